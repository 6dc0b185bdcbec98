"""What a manager is told when a ranker cannot be made or used."""


class TrainingError(Exception):
    """Why a run cannot be made or did not end well, in words for the manager."""


class ModelError(Exception):
    """Why a model cannot be used or given out."""
