"""What computes windows: what is asked, its algebra, the plan, kernels, operators, and Spark."""
