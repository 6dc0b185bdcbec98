"""The pages' powers for programs: a thin shell of JSON over the same modules."""
