package gateway

// fileWatcher tells when the certificate file changes; this one uses ReadDirectoryChangesW.
type fileWatcher struct {
	fd      int
	handle  uintptr
	changed chan string
}

// watchFile begins to report changes of a file.
func (w *fileWatcher) watchFile(path string) error {
	_, err := windows.ReadDirectoryChanges(w.handle, path, false)
	return err
}

func (w *fileWatcher) stop() {
	close(w.changed)
}
