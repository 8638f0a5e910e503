"""One key group's running state: feed, release, snapshot, restore. No Spark."""
