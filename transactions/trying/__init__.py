"""The pages on which business administrators try messages, keep simulations and look at how they come out."""
