"""What a manager is told when a replay cannot be made."""


class LabError(Exception):
    """Why a replay cannot be made or did not end well, in words for the manager."""
