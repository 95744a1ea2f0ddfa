// Package server serves.
package server

import "fmt"

const Version = "1.0"

const (
	StateNew = iota
	StateOpen
)

var ErrClosed, ErrBusy = fmt.Errorf("closed"), fmt.Errorf("busy")

// Server answers requests.
//
// It is safe for concurrent use.
type Server struct {
	Addr string
	mu   int
}

type (
	Handler interface {
		Serve(name string) error
	}
	Names = []string
	Duration int64
)

// NewServer makes one.
//
//go:noinline
func NewServer(addr string) *Server {
	const local = 1
	handler := func() {}
	handler()
	return &Server{Addr: addr}
}

func (s *Server) Close() error { return nil }

func (l List[T]) Push(v T) (n int, err error) {
	return 0, nil
}

func Map[K comparable, V any](m map[K]V) []V {
	return nil
}
