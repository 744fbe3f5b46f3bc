"""Says which version the workers are of: `python -m workers --version`. Dramatiq runs them."""

from shared.process.command_line import command_line

if __name__ == "__main__":
    parser = command_line("python -m workers", "Workers are run by dramatiq, as the lines of compose/Procfile do.")
    parser.parse_args()
    parser.print_help()
