"""What stands in the way of a graph's requests: where it is while it comes or goes, and its quotas."""
