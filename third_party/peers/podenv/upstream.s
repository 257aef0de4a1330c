// Empty: a Go package with functions that are linked by name (upstream.go) must have an assembly file.
