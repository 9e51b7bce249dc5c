"""What stands beside a run: estimate, doctor, trial, training, canaries, verify, quarantine."""
