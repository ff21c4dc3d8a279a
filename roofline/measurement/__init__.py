"""How it is timed: clock, buffers, team, sampling, ceilings, levels, kernels, worker and launcher."""
