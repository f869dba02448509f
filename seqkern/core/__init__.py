"""What every package stands on: declared parameters, their checks, and the forms in which users write them."""
