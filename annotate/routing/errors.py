"""What people are told when a step cannot be taken."""


class RoutingError(Exception):
    """A step that cannot be taken, in a sentence for whoever wanted it."""


class StaleSeatError(RoutingError):
    """The seat, or the judgment, is not or no longer this judge's."""


class CampaignNotOpenError(RoutingError):
    """The campaign takes no judgments now."""
