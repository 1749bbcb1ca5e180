/* A thread leaves a pool of the implicit scheduler, or begins a stay, under total store order, while thieves send it
   interrupts. Edge implicit-7 in src/schedulers/implicit/protocol.md.

   Checked: no signal is on its way to a thread that has left, or comes to it. */

#define PROCS 3
#define VICTIM 0
#ifndef DEPTH
#define DEPTH 1
#endif

/* words of memory */
#define THREAD 0  /* whether it runs a fiber */
#define ON_ITS_WAY 1  /* two for each thief that is sending; one: no handler has seen the signal */
#define WORDS 2

#include "tso.pml"

bool pending;  /* a signal, on its way to the victim */
bool left;

inline handle() {
  atomic { DRAINED(VICTIM) && pending -> pending = false; mem[ON_ITS_WAY] = (mem[ON_ITS_WAY] == 1 -> 0 : mem[ON_ITS_WAY]) }
}

proctype victim() {
  byte seen;

  do
  :: handle()
  :: true -> break
  od;
#ifdef MUTANT_LEAVES_BY_PLAIN_STORE
  STORE(VICTIM, THREAD, 0);
#else
  STORE_SC(VICTIM, THREAD, 0);
#endif
  LOAD(VICTIM, ON_ITS_WAY, seen);
  if
  :: seen != 0 ->
#ifndef MUTANT_DOES_NOT_WAIT
     mem[ON_ITS_WAY] < 2;
#endif
     /* The system call. */
#ifndef MUTANT_MAKES_NO_CALL
     do
     :: handle()
     :: atomic { !pending -> break }
     od
#endif
  :: seen == 0
  fi;
  left = true;
  assert(!pending)
}

proctype thief(byte me) {
  byte t;

#ifdef MUTANT_READS_BEFORE_IT_SAYS
  LOAD(me, THREAD, t);
#endif
  atomic { DRAINED(me) -> mem[ON_ITS_WAY] = mem[ON_ITS_WAY] + 2 };
#ifndef MUTANT_READS_BEFORE_IT_SAYS
  LOAD(me, THREAD, t);
#endif
  if
  :: t == 1 ->
     atomic { DRAINED(me) -> mem[ON_ITS_WAY] = mem[ON_ITS_WAY] | 1 };
     atomic { pending = true; assert(!left) }
  :: t == 0
  fi;
  atomic { DRAINED(me) -> mem[ON_ITS_WAY] = mem[ON_ITS_WAY] - 2 }
}

init {
  atomic {
    mem[THREAD] = 1;
    run victim();
    run thief(1);
    run thief(2);
    run drain(0);
    run drain(1);
    run drain(2)
  }
}
