/* The join counter of the schedulers that move fibers: a fiber that has to wait for PARTS stolen parts leaves its stack;
   the last party continues its frame. Under total store order. Words as in src/runtime/fibers.md (fiber-1).

   Checked: the frame continues once, after all results, with no thread on its stack. */

#ifndef PARTS
#define PARTS 2
#endif

#define PROCS (PARTS + 1)
#define OWNER 0
#define DEPTH 3

/* words of memory */
#define RESULT(p) (p)
#define SUSPENDED (PARTS + 1)
#define BALANCE (PARTS + 2)
#define WORDS (PARTS + 3)

#define ZERO 100
#define THE_STACK 1

#include "tso.pml"

byte standing_on_stack = 1;  /* the owner's worker stands on the frame's stack */
bool done;                   /* the frame went on */
byte left_home;

/* The worker p continues the frame: everything must be there. */
inline go_on(p) {
  i = 1;
  do
  :: i <= PARTS ->
     LOAD(p, RESULT(i), s);
     assert(s == 1);
     i++
  :: else -> break
  od;
  atomic { assert(!done); done = true; i = 0; s = 0 }
}

inline resume(p) {
  LOAD(p, SUSPENDED, s);
  atomic { assert(s == THE_STACK); assert(standing_on_stack == 0); standing_on_stack = 1 };
  go_on(p)
}

proctype owner() {
  byte i, s;

  /* All have arrived: the owner continues without leaving. */
  LOAD(OWNER, BALANCE, s);
  if
  :: s == ZERO - PARTS -> STORE(OWNER, BALANCE, ZERO); go_on(OWNER)
  :: else ->
#ifndef MUTANT_SUSPENDED_AFTER_ADDING
     STORE(OWNER, SUSPENDED, THE_STACK);
#endif
#ifdef MUTANT_ADDS_BEFORE_LEAVING
     atomic { DRAINED(OWNER) -> s = mem[BALANCE]; mem[BALANCE] = s + PARTS };
     standing_on_stack = 0;
#else
     standing_on_stack = 0;  /* on the home stack now */
#ifdef MUTANT_ADDS_WITHOUT_RMW
     LOAD(OWNER, BALANCE, s);
     STORE(OWNER, BALANCE, s + PARTS);
#else
     atomic { DRAINED(OWNER) -> s = mem[BALANCE]; mem[BALANCE] = s + PARTS };
#endif
#endif
#ifdef MUTANT_SUSPENDED_AFTER_ADDING
     STORE(OWNER, SUSPENDED, THE_STACK);
#endif
     if
     :: s == ZERO - PARTS -> resume(OWNER)
     :: else
     fi
  fi
}

proctype thief(byte me) {
  byte i, s;

#ifndef MUTANT_RESULT_AFTER_ARRIVAL
  STORE(me, RESULT(me), 1);
#endif
#ifdef MUTANT_ARRIVES_WITHOUT_RMW
  LOAD(me, BALANCE, s);
  STORE(me, BALANCE, s - 1);
#else
  atomic { DRAINED(me) -> s = mem[BALANCE]; mem[BALANCE] = s - 1 };
#endif
#ifdef MUTANT_RESULT_AFTER_ARRIVAL
  STORE(me, RESULT(me), 1);
#endif
  if
  :: s == ZERO + 1 -> resume(me)
  :: else
  fi
}

/* When nothing moves any more the frame has gone on. */
proctype observer() { timeout -> assert(done) }

init {
  atomic {
    byte k = 1;
    mem[BALANCE] = ZERO;
    run owner();
    run observer();
    run drain(0);
    do
    :: k <= PARTS -> run thief(k); run drain(k); k++
    :: else -> break
    od
  }
}
