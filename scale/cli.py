"""`scale`: the training maths and the planner on the command line. Mounted as `curate scale` as well."""

from scale.commands.completion import completion
from scale.commands.formulas import budget, checkpoint, fit, precision, show_group
from scale.commands.group import main
from scale.commands.plan import gpus, memory, plan

for command in (plan, gpus, memory, budget, checkpoint, precision, show_group, fit, completion):
    main.add_command(command)

__all__ = ["main"]
