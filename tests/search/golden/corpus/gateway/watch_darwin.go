package gateway

// fileWatcher tells when the certificate file changes; this one uses kqueue.
type fileWatcher struct {
	fd      int
	handle  uintptr
	changed chan string
}

// watchFile begins to report changes of a file.
func (w *fileWatcher) watchFile(path string) error {
	_, err := unix.Kevent(w.fd, changesFor(path), nil, nil)
	return err
}

func (w *fileWatcher) stop() {
	close(w.changed)
}
