// A Go library: functions that tasks call, and goroutines that run meanwhile. Go's scheduler interrupts its threads by
// SIGURG, as filch::implicit does, and wants a signal stack in every handler.
package main

import "C"

import (
	"runtime"
	"sync/atomic"
	"time"
)

var turns atomic.Int64

func fib(n int64) int64 {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//export go_fib
func go_fib(n int64) int64 { return fib(n) }

// Grows and moves its stack, and makes garbage.
//
//export go_garbage
func go_garbage(n int64) int64 {
	var sum int64
	done := make(chan int64)
	for i := int64(0); i < n; i++ {
		go func(i int64) {
			b := make([]int64, 1024)
			b[i%1024] = i
			done <- b[i%1024]
		}(i)
	}
	for i := int64(0); i < n; i++ {
		sum += <-done
	}
	return sum
}

// Goroutines that never call, so that only signals take them off their threads; and collections.
//
//export go_start
func go_start() {
	for i := 0; i < 2; i++ {
		go func() {
			for {
				turns.Add(fib(15) & 1)
			}
		}()
	}
	go func() {
		for {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}()
}

func main() {}
