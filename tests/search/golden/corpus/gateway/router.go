package gateway

import (
	"errors"
	"net/http"
	"strings"
)

// ErrNoRoute is answered with 404.
var ErrNoRoute = errors.New("gateway: no route matches the request path")

// Router finds the handler of the longest prefix.
type Router struct {
	routes map[string]http.Handler
	limits map[string]*TokenBucket
}

// Handle registers a handler under a path prefix.
func (r *Router) Handle(prefix string, handler http.Handler) {
	r.routes[prefix] = handler
}

func (r *Router) lookup(path string) (http.Handler, error) {
	best := ""
	for prefix := range r.routes {
		if strings.HasPrefix(path, prefix) && len(prefix) > len(best) {
			best = prefix
		}
	}
	if best == "" {
		return nil, ErrNoRoute
	}
	return r.routes[best], nil
}

// ServeHTTP refuses a client that sends too much with 429 Too Many Requests.
func (r *Router) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	handler, err := r.lookup(request.URL.Path)
	if err != nil {
		http.NotFound(w, request)
		return
	}
	handler.ServeHTTP(w, request)
}
