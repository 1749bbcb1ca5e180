/* The implicit scheduler's interrupts, under total store order. A victim offers a part of what it holds when a thief has
   requested, and may not fork for ever. Thieves request, send interrupts, sleep, and trip the wire. Edge implicit-5 in
   src/schedulers/implicit/protocol.md. With TAKES_UP the victim is free at first, and then forks once; with FORKS_LATE it
   holds nothing before its fork. With LIVE memory is sequentially consistent, the victim does not fork, and the model
   shows that the run ends while something always moves.

   Checked: no thief sleeps while the victim holds a frame; with LIVE none sleeps for ever. */

#ifndef HELD
#define HELD 2  /* continuations that the victim holds in the beginning */
#endif
#define PROCS 3
#define VICTIM 0
#ifndef DEPTH
#define DEPTH 1
#endif

/* words of memory */
#define POLL 0
#define OPEN 1  /* how many are offered */
#define INTERRUPTED 2
#define ASLEEP(p) (2 + (p))
#define THREAD 5  /* whether it runs a fiber */
#define WORDS 6

#include "tso.pml"

#ifdef LIVE
#undef STORE
#define STORE STORE_SC
#endif

byte held;  /* not offered yet: the victim's alone */
bool pending;  /* a signal, on its way to the victim */
bool busy;  /* is_busy */
bool refused;  /* a moment ago */

#define SLEEPS(p) (mem[ASLEEP(p)] == 1)
#define SOMEBODY_SLEEPS (SLEEPS(1) || SLEEPS(2))

inline wake_one(by) {
  if
  :: atomic { DRAINED(by) && SLEEPS(1) -> mem[ASLEEP(1)] = 0 }
  :: atomic { DRAINED(by) && SLEEPS(2) -> mem[ASLEEP(2)] = 0 }
  :: atomic { !SOMEBODY_SLEEPS -> skip }
  fi
}

/* Where nothing may be offered. */
inline refuse() {
  refused = true;
#ifdef MUTANT_LOOKS_BEFORE_CLEARING
  wake_one(VICTIM);
#endif
#ifdef MUTANT_CLEARED_BY_PLAIN_STORE
  STORE(VICTIM, INTERRUPTED, 0);
#else
  STORE_SC(VICTIM, INTERRUPTED, 0);
#endif
#if !defined(MUTANT_REFUSES_IN_SILENCE) && !defined(MUTANT_LOOKS_BEFORE_CLEARING)
  wake_one(VICTIM)
#endif
}

/* While the victim publishes. In the handler all signals are blocked. */
inline maybe_refuse() {
  if
  :: pending && busy -> pending = false; refuse()
  :: true
  fi
}

inline publish_from() {
#ifndef MUTANT_CLEARED_AFTER_OFFER
  STORE(VICTIM, INTERRUPTED, 0);
  maybe_refuse();
#endif
  if
  :: held > 0 ->
     STORE_SC(VICTIM, POLL, 0);
     maybe_refuse();
     /* Some of it, or all: that is policy. */
     if
     :: atomic { DRAINED(VICTIM) -> mem[OPEN] = mem[OPEN] + 1; held-- }
     :: atomic { DRAINED(VICTIM) -> mem[OPEN] = mem[OPEN] + held; held = 0 }
     fi;
     maybe_refuse();
     wake_one(VICTIM)
  :: held == 0 ->
     /* In vain: no further interrupt for a while. The request stays. */
#ifdef MUTANT_IN_VAIN_TAKES_REQUEST_AWAY
     STORE_SC(VICTIM, POLL, 0);
#endif
     refused = true
  fi;
  maybe_refuse();
#ifdef MUTANT_CLEARED_AFTER_OFFER
  STORE(VICTIM, INTERRUPTED, 0);
  maybe_refuse()
#endif
}

proctype victim() {
  byte p;
#ifdef LIVE
  bool forked = true, threw, refused_once;
#elif defined(TAKES_UP)
  bool forked = true, threw = true;
#else
  bool forked, threw;
#endif

#ifdef TAKES_UP
  /* It was free. Then it forks, once. */
  STORE(VICTIM, THREAD, 1);
#ifdef MUTANT_TAKES_UP_BY_PLAIN_STORES
  STORE(VICTIM, INTERRUPTED, 0);
#else
  STORE_SC(VICTIM, INTERRUPTED, 0);
#endif
  held = HELD;
  LOAD(VICTIM, POLL, p);
  if
  :: p == 1 ->
     atomic { busy = true; p = 0 };
     publish_from();
     busy = false
  :: p == 0
  fi;
#endif
  /* It may do each once, at any time. Then it does not fork any more. */
  end: do
  :: !forked ->
     /* A fork, or the end of a stay, in which interrupts are forgotten: the poll. */
     do
     :: pending -> pending = false; STORE_SC(VICTIM, INTERRUPTED, 0)
     :: true -> break
     od;
#ifdef FORKS_LATE
     held = HELD;  /* the frame is there before the poll, which is in its child */
#endif
     skip;
     LOAD(VICTIM, POLL, p);
     if
     :: p == 1 ->
        atomic { busy = true; p = 0 };
        publish_from();
        busy = false
     :: p == 1 ->
        /* Code without unwind information hides it all. */
        p = 0;
#ifndef MUTANT_LOOKS_IN_VAIN_IN_SILENCE
        refuse()
#else
        skip
#endif
     :: p == 0
     fi;
     forked = true
  :: !threw ->
     do
#ifdef LIVE
     :: pending && !refused_once -> refused_once = true; pending = false; refuse()
#else
     :: pending -> pending = false; refuse()
#endif
     :: true -> break
     od;
     threw = true
  :: pending -> pending = false; publish_from()  /* the handler */
  od
}

inline ask() { STORE_SC(me, POLL, 1) }

inline insist_on() {
#ifdef TAKES_UP
  LOAD(me, THREAD, t);
#else
  t = 1;
#endif
  LOAD(me, POLL, p);
  LOAD(me, OPEN, o);
  if
  :: p == 1 && o == 0 && t == 1 ->
     if
     :: refused -> again = true
     :: !refused ->
        if
        :: atomic { DRAINED(me) && mem[INTERRUPTED] == 0 -> mem[INTERRUPTED] = 1 };
           if
           :: mem[THREAD] == 1 -> pending = true
           :: mem[THREAD] == 0  /* as if it had not been marked, once it takes up a fiber */
           fi
        :: atomic { DRAINED(me) && mem[INTERRUPTED] == 1 -> skip }
        fi
     fi
  :: else
  fi;
  atomic { p = 0; o = 0; t = 0 }
}

#ifdef MUTANT_SLEEPS_THOUGH_IT_COULD_NOT_INSIST
#define COMES_AGAIN (mem[OPEN] > 0)
#else
#define COMES_AGAIN (mem[OPEN] > 0 || again)
#endif

proctype thief(byte me) {
  byte p, o, t;
  bool last, again;

look:
  if
  :: atomic { DRAINED(me) && mem[OPEN] > 0 -> mem[OPEN]--; last = mem[OPEN] == 0 };
     if
     :: atomic { last && SOMEBODY_SLEEPS -> last = false };
        ask();
#ifndef MUTANT_TRIP_WIRE_ONLY_ASKS
        insist_on();
#endif
#ifndef MUTANT_TRIP_WIRE_GIVES_UP
        if
        :: again -> wake_one(me)
        :: !again
        fi;
#endif
        again = false
     :: atomic { !(last && SOMEBODY_SLEEPS) -> last = false }
     fi;
     /* Passes the wake-up on. */
     if
     :: mem[OPEN] > 0 -> wake_one(me)
     :: mem[OPEN] == 0
     fi;
     /* Its task may last for ever. */
     goto done
  :: mem[OPEN] == 0 ->
     ask();
     insist_on();
     again = false;
     STORE_SC(me, ASLEEP(me), 1);
     ask();
#ifndef MUTANT_SLEEPS_WITHOUT_INSISTING
     insist_on();
#endif
     /* The last look. */
     if
     :: atomic { DRAINED(me) && COMES_AGAIN -> mem[ASLEEP(me)] = 0 }
     :: !COMES_AGAIN
     fi;
     again = false;
     endsleep: mem[ASLEEP(me)] == 0
  fi;
  goto look;
done:
  skip
}

proctype clock() {
  end: do
#ifndef MUTANT_REFUSED_FOR_EVER
  :: refused -> refused = false
#else
  :: false
#endif
  od
}

#ifdef LIVE
/* No thief sleeps for ever. */
ltl answered { !<>[](SOMEBODY_SLEEPS && (held > 0 || mem[OPEN] > 0)) }
#else
/* When nothing can move any more. */
proctype observer() {
  timeout -> assert(!(SOMEBODY_SLEEPS && (held > 0 || mem[OPEN] > 0)))
}
#endif

init {
  atomic {
#ifndef TAKES_UP
    mem[THREAD] = 1;
#ifndef FORKS_LATE
    held = HELD;
#endif
#endif
    run victim();
    run thief(1);
    run thief(2);
#ifndef LIVE
    run drain(0);
    run drain(1);
    run drain(2);
    run observer();
#endif
    run clock()
  }
}
