/* The implicit scheduler's requests that are put off, under total store order. An owner with a request offers, takes back,
   or puts the request off. Two thieves request where they may, take, go away, and sleep, either until they may request or
   without an end. Edge implicit-6 in src/schedulers/implicit/protocol.md.

   Checked: no thief sleeps without an end while nothing is offered or requested. */

#define PROCS 3
#define OWNER 0
#ifndef DEPTH
#define DEPTH 2
#endif

/* words of memory */
#define POLL 0
#define OPEN 1
#define EARLY 2  /* thieves may not ask yet */
#define ASLEEP(p) (2 + (p))
#define WORDS 5

#include "tso.pml"

#ifndef STEPS
#define STEPS 4
#endif
bool answers;  /* the owner, between its look at a request and its look for sleepers */
byte tripping;  /* thieves between the last offer and their request */
bool for_good[3];
bool gone[3];
byte steps;

#define SLEEPS(p) (mem[ASLEEP(p)] == 1)
#define SOMEBODY_SLEEPS (SLEEPS(1) || SLEEPS(2))
/* Awake, or asleep for a while. */
#define COMES(p) (!gone[p] && !for_good[p])

#define forgotten ((for_good[1] || for_good[2]) && !COMES(1) && !COMES(2) && \
                   mem[POLL] == 0 && mem[OPEN] == 0 && !answers && tripping == 0)

inline wake_one(by) {
  if
  :: atomic { DRAINED(by) && SLEEPS(1) -> mem[ASLEEP(1)] = 0; for_good[1] = false }
  :: atomic { DRAINED(by) && SLEEPS(2) -> mem[ASLEEP(2)] = 0; for_good[2] = false }
  :: atomic { !SOMEBODY_SLEEPS -> skip }
  fi
}

inline put_off() {
  STORE(OWNER, EARLY, 1);
#ifdef MUTANT_LOOKS_BEFORE_PUTTING_OFF
  wake_one(OWNER);
#endif
#ifdef MUTANT_PUTS_OFF_BY_PLAIN_STORE
  STORE(OWNER, POLL, 0);
#else
  STORE_SC(OWNER, POLL, 0);
#endif
#if !defined(MUTANT_PUTS_OFF_IN_SILENCE) && !defined(MUTANT_LOOKS_BEFORE_PUTTING_OFF)
  wake_one(OWNER)
#endif
}

/* A thief that may not request now wakes another one, which comes again. */
inline ask_or_wake(by) {
  LOAD(by, EARLY, early);
  if
  :: early == 0 -> STORE_SC(by, POLL, 1)
  :: early == 1 -> wake_one(by)
  fi;
  early = 0
}

proctype owner() {
  byte p, early;
  end: do
  :: steps < STEPS ->
     steps++;
     atomic { answers = true; p = 0 };
     skip;
     LOAD(OWNER, POLL, p);
     if
     :: p == 1 && mem[OPEN] == 0 -> put_off()
     :: p == 1 ->
        STORE_SC(OWNER, POLL, 0);
        atomic { DRAINED(OWNER) -> mem[OPEN] = 1 };
        wake_one(OWNER)
     :: p == 0
     fi;
     answers = false
  :: mem[OPEN] == 1 ->
     /* Takes it back, unless a thief was first. */
     if
     :: atomic { DRAINED(OWNER) && mem[OPEN] == 1 -> mem[OPEN] = 0; answers = true };
#ifndef VARIANT_TAKES_BACK_IN_SILENCE
        if
        :: SOMEBODY_SLEEPS -> ask_or_wake(OWNER)
        :: !SOMEBODY_SLEEPS
        fi;
#endif
        answers = false
     :: mem[OPEN] == 0
     fi
  od
}

proctype thief(byte me) {
  byte p, early;
  bool waits;

look:
  end: if
  :: atomic { DRAINED(me) && mem[OPEN] == 1 -> mem[OPEN] = 0; tripping++ };
     /* The trip wire. */
#ifndef VARIANT_TRIPS_IN_SILENCE
     if
     :: SOMEBODY_SLEEPS -> ask_or_wake(me)
     :: !SOMEBODY_SLEEPS
     fi;
#endif
     tripping--;
     if
     :: goto look
     :: goto away
     fi
  :: goto away  /* it has found a task elsewhere */
  :: mem[OPEN] == 0 ->
     STORE_SC(me, ASLEEP(me), 1);
     LOAD(me, POLL, p);
     LOAD(me, EARLY, early);
     if
     :: p == 1
     :: p == 0 && early == 1 -> waits = true
     :: p == 0 && early == 0 -> STORE_SC(me, POLL, 1)
     fi;
     atomic { p = 0; early = 0 };
#ifdef MUTANT_SLEEPS_FOR_GOOD
     waits = false;
#endif
     if
     :: atomic { mem[OPEN] == 1 -> if :: SLEEPS(me) -> mem[ASLEEP(me)] = 0 :: else fi }
     :: atomic { mem[OPEN] == 0 && SLEEPS(me) && !waits -> for_good[me] = true }
     :: atomic { mem[OPEN] == 0 && SLEEPS(me) && waits -> skip }
     :: atomic { mem[OPEN] == 0 && !SLEEPS(me) -> skip }
     fi;
     endsleep: if
     :: atomic { !SLEEPS(me) -> waits = false }
     :: atomic { SLEEPS(me) && waits -> mem[ASLEEP(me)] = 0; waits = false }
     fi
  fi;
  goto look;

away:
  /* Wakes another one if no worker requests. */
#ifndef MUTANT_GOES_AWAY_IN_SILENCE
  skip;
  LOAD(me, POLL, p);
  if
  :: p == 0 -> wake_one(me)
  :: p == 1
  fi;
#endif
  gone[me] = true
}

/* Time passes, and costs arise. */
proctype clock() {
  end: do
  :: mem[EARLY] == 1 -> mem[EARLY] = 0
  :: mem[EARLY] == 0 -> mem[EARLY] = 1
  od
}

proctype monitor() {
  end: if
  :: atomic { forgotten -> assert(false) }
  fi
}

init {
  atomic {
    run owner();
    run thief(1);
    run thief(2);
    run drain(0);
    run drain(1);
    run drain(2);
    run clock();
    run monitor()
  }
}
