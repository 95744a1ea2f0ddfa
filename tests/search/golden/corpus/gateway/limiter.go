package gateway

import (
	"sync"
	"time"
)

// TokenBucket lets through so many requests a second, with short bursts on top.
type TokenBucket struct {
	mu       sync.Mutex
	capacity float64
	tokens   float64
	perSec   float64
	last     time.Time
}

// NewTokenBucket starts full, so that a client's first burst gets through.
func NewTokenBucket(perSec, burst float64) *TokenBucket {
	return &TokenBucket{capacity: burst, tokens: burst, perSec: perSec, last: time.Now()}
}

// Allow reports whether one more request may pass now.
func (b *TokenBucket) Allow(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

func (b *TokenBucket) refill(now time.Time) {
	b.tokens += now.Sub(b.last).Seconds() * b.perSec
	if b.tokens > b.capacity {
		b.tokens = b.capacity
	}
	b.last = now
}
