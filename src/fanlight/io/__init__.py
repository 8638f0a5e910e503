"""Where rows come from and results go: files played back as a stream, writes by key."""
