package gateway

import (
	"testing"
	"time"
)

func TestBurstThenRefusal(t *testing.T) {
	bucket := NewTokenBucket(1, 2)
	now := time.Now()
	if !bucket.Allow(now) || !bucket.Allow(now) {
		t.Fatal("the burst must pass")
	}
	if bucket.Allow(now) {
		t.Fatal("the third request must wait")
	}
}
