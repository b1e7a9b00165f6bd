"""What a user did wrong, said so that they can mend it. Everything else is a bug and keeps its traceback."""


class UserError(Exception):
    """A mistake outside the program: a file, a line, a key, a machine. The message says which, and the fix."""
