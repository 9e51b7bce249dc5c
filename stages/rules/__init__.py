"""What the rule stages measure: tokenisations, repetition, and the measures of each published rule set."""
