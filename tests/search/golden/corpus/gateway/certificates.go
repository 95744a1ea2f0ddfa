package gateway

import (
	"crypto/tls"
	"sync/atomic"
)

// CertificateReloader serves the newest certificate without a restart.
type CertificateReloader struct {
	current atomic.Pointer[tls.Certificate]
	watcher fileWatcher
}

// Reload reads the pair again; a broken file leaves the old certificate in use.
func (c *CertificateReloader) Reload(certPath, keyPath string) error {
	pair, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		return err
	}
	c.current.Store(&pair)
	return nil
}
