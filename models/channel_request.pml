/* Steal requests of filch::channel under total store order: an owner that forks, a worker that has one task and then
   passes requests on, and a thief that requests from one of them, then from both, then sleeps or withdraws. ROOTS: another call's
   tasks.

   Checked: received messages are complete; after a fork without requests no thief sleeps unanswered. */

#ifndef FORKS
#define FORKS 2
#endif
#define TASKS (FORKS + 1)

#define PROCS 3
#define OWNER 0
#define PASSER 1
#define THIEF 2
#define DEPTH 3

/* words of memory */
#define PLACE(v) (v)       /* the thief's place in the request channel of v; its own: what came back */
#define DOORBELL(v) (3 + (v))
#define CHANNEL 6          /* the state of the thief's task channel */
#define WAITS 7            /* the thief's word in the idle protocol */
#define WORDS 8

#define NOTHING 0
#define DIRECTED 1
#define BROADCAST 2

#define QUIET 0
#define RUNG 1
#define SEEN 2             /* there are only requests that the receiver has looked at */

#define CLOSED 0
#define OPEN 1
#define CLAIMED 2
#define FULL 3

/* With ROOTS, the thief waits for tasks of another root than the first one that the owner forks. */
#ifdef ROOTS
#define OTHER_ROOT(me, task) (me == OWNER && task == 1)
#else
#define OTHER_ROOT(me, task) false
#endif

#include "tso.pml"

byte runs[TASKS];
byte message;        /* 1 + the task that was sent */
byte sent;           /* 1 + the owner's task that was sent away */
bool done;           /* and run by the thief */
bool asleep;
bool owner_is_done;
byte withdrawals = 1;      /* of the thief */
byte looks = 1;            /* of the owner: is a task requested? */
bool deferred;             /* the owner has deferred a request: its thief wants another root */

inline run_once(task) {
  assert(runs[task] == 0);
  runs[task]++
}

inline ring(me, whose, tmp) {
  LOAD(me, DOORBELL(whose), tmp);
  if
  :: tmp != RUNG -> STORE_SC(me, DOORBELL(whose), RUNG)
  :: else
  fi;
  tmp = 0
}

inline leave(whose, what, tmp) {
#ifdef MUTANT_RINGS_FIRST
  ring(THIEF, whose, tmp);
  STORE_SC(THIEF, PLACE(whose), what)
#else
  STORE_SC(THIEF, PLACE(whose), what);
  ring(THIEF, whose, tmp)
#endif
}

inline look_for_sleeper(me, tmp) {
  LOAD(me, WAITS, tmp);
  if
  :: tmp == 1 -> atomic { DRAINED(me) -> if :: mem[WAITS] == 1 -> mem[WAITS] = 0 :: else fi }
  :: else
  fi;
  tmp = 0
}

/* `task`: 1 + the task to give, or 0. Becomes 0 if it was given. */
inline answer(me, task, tmp) {
#ifdef MUTANT_CLAIMS_WITHOUT_CAS
  LOAD(me, CHANNEL, tmp);
  if
  :: tmp == OPEN -> STORE_SC(me, CHANNEL, CLAIMED); tmp = 1
  :: else -> tmp = 0
  fi;
#else
  atomic {
    DRAINED(me) ->
    if
    :: mem[CHANNEL] == OPEN -> mem[CHANNEL] = CLAIMED; tmp = 1
    :: else -> tmp = 0
    fi
  };
#endif
  if
  :: tmp == 1 ->
     message = task;
     if
     :: me == OWNER -> sent = task
     :: else
     fi;
     task = 0;
#ifdef VARIANT_LOOKS_FOR_SLEEPER_AFTER_CLAIM
     look_for_sleeper(me, tmp);
     STORE_SC(me, CHANNEL, FULL)
#else
     STORE_SC(me, CHANNEL, FULL);
     look_for_sleeper(me, tmp)
#endif
  :: else
  fi;
  tmp = 0
}

inline pass_on(me, other, tmp) {
  if
  :: skip ->
#ifdef MUTANT_PASSES_ON_OVER_OTHERS
     STORE_SC(me, PLACE(other), DIRECTED); tmp = 1;
#else
     atomic {
       DRAINED(me) ->
       if
       :: mem[PLACE(other)] == NOTHING -> mem[PLACE(other)] = DIRECTED; tmp = 1
       :: else -> tmp = 0
       fi
     };
#endif
     if
     :: tmp == 1 -> ring(me, other, tmp)
     :: else
     fi
  :: STORE_SC(me, PLACE(THIEF), DIRECTED)   /* it has been everywhere */
  fi;
  tmp = 0
}

inline serve(me, other, task, r, tmp) {
#ifndef MUTANT_CLEARS_LAST
  EXCHANGE(me, DOORBELL(me), QUIET, tmp);
#endif
  if
  :: me == OWNER -> deferred = false
  :: else
  fi;
  LOAD(me, PLACE(me), r);
  if
  :: r != NOTHING -> EXCHANGE(me, PLACE(me), NOTHING, r)
  :: else
  fi;
#ifdef MUTANT_CLEARS_LAST
  EXCHANGE(me, DOORBELL(me), QUIET, tmp);
#endif
  if
  :: r != NOTHING ->
     LOAD(me, CHANNEL, tmp);
     if
     :: tmp != OPEN  /* an old one */
     :: tmp == OPEN && task != 0 && !OTHER_ROOT(me, task) -> answer(me, task, tmp)
     :: tmp == OPEN && OTHER_ROOT(me, task) && r == BROADCAST ->
#ifndef MUTANT_DROPS_WHAT_IT_DEFERS
        STORE(me, PLACE(me), BROADCAST);
#endif
        deferred = true
     :: tmp == OPEN && OTHER_ROOT(me, task) && r == DIRECTED -> pass_on(me, other, tmp)
     :: tmp == OPEN && task == 0 && r == BROADCAST ->
#ifdef MUTANT_PASSES_ON_A_BROADCAST
        pass_on(me, other, tmp)
#else
        STORE(me, PLACE(me), BROADCAST);
#ifdef MUTANT_MARKS_SEEN_BY_PLAIN_STORE
        STORE(me, DOORBELL(me), SEEN)
#else
#ifndef MUTANT_DOES_NOT_MARK_SEEN
        atomic { DRAINED(me) -> if :: mem[DOORBELL(me)] == QUIET -> mem[DOORBELL(me)] = SEEN :: else fi }
#endif
#endif
#endif
     :: tmp == OPEN && task == 0 && r == DIRECTED -> pass_on(me, other, tmp)
     fi
  :: else
  fi;
  atomic { r = 0; tmp = 0 }
}

active proctype owner() {
  byte n, task, r, tmp;
  do
  :: n < FORKS ->
     task = n + 1;
#ifndef MUTANT_DOES_NOT_LOOK_AGAIN
     if
     :: n == 1 && deferred -> deferred = false; ring(OWNER, OWNER, tmp)   /* the root has changed */
     :: else
     fi;
#endif
     /* A fork whose compare finds no request, while the thief sleeps with nothing coming? */
     d_step { tmp = mem[DOORBELL(OWNER)]; assert(tmp != QUIET || !asleep || mem[CHANNEL] != OPEN || OTHER_ROOT(OWNER, task)) };
     if
     :: tmp != QUIET -> serve(OWNER, PASSER, task, r, tmp)
     :: else
     fi;
     if
     :: task == 0 -> done; atomic { done = false; sent = 0 }
     :: else ->
        LOAD(OWNER, DOORBELL(OWNER), tmp);
        task = 0;
        if
        :: tmp == RUNG -> serve(OWNER, PASSER, task, r, tmp)
        :: else            /* also if it holds some: it has no task for them */
        fi;
        run_once(n)
     fi;
     n++; tmp = 0
  :: looks > 0 -> looks--;
     EXCHANGE(OWNER, DOORBELL(OWNER), QUIET, tmp);
     LOAD(OWNER, PLACE(OWNER), r);
     LOAD(OWNER, CHANNEL, tmp);
#ifndef MUTANT_LOOKS_AND_DOES_NOT_RING
     if
     :: r != NOTHING && tmp == OPEN && !OTHER_ROOT(OWNER, n + 1) -> ring(OWNER, OWNER, tmp)
#ifndef MUTANT_LOOKS_AND_DOES_NOT_DEFER
     :: r != NOTHING && tmp == OPEN && OTHER_ROOT(OWNER, n + 1) -> deferred = true
#endif
     :: else
     fi;
#endif
     atomic { r = 0; tmp = 0 }
  :: n == FORKS -> break
  od;
  owner_is_done = true
}

active proctype passer() {
  byte task = TASKS;
  byte r, tmp;
  do
  :: mem[DOORBELL(PASSER)] == RUNG || (mem[DOORBELL(PASSER)] == SEEN && task != 0) -> serve(PASSER, OWNER, task, r, tmp)
  :: break
  od
}

active proctype thief() {
  byte tmp;
  bool is_broadcast;
again:
#ifndef MUTANT_OPENS_AFTER_ASKING
  STORE_SC(THIEF, CHANNEL, OPEN);
#endif
  if
  :: leave(PASSER, DIRECTED, tmp)
  :: leave(OWNER, DIRECTED, tmp)
  :: skip
  fi;
#ifdef MUTANT_OPENS_AFTER_ASKING
  leave(OWNER, BROADCAST, tmp);
  leave(PASSER, BROADCAST, tmp);
  is_broadcast = true;
  STORE_SC(THIEF, CHANNEL, OPEN);
#endif
end_waits: do
  :: mem[CHANNEL] == FULL -> break
  :: !is_broadcast ->
     leave(OWNER, BROADCAST, tmp);
     leave(PASSER, BROADCAST, tmp);
     is_broadcast = true
  :: is_broadcast && withdrawals > 0 ->   /* its requests stay behind */
     atomic {
       DRAINED(THIEF) -> withdrawals--;
       if
       :: mem[CHANNEL] == OPEN -> mem[CHANNEL] = CLOSED; tmp = 1
       :: else -> tmp = 0
       fi
     };
     if
     :: tmp == 1 -> atomic { tmp = 0; is_broadcast = false }; goto again
     :: else
     fi
  :: is_broadcast ->
#ifdef MUTANT_ANNOUNCES_LAST
     LOAD(THIEF, CHANNEL, tmp);
     STORE_SC(THIEF, WAITS, 1);
#else
     STORE_SC(THIEF, WAITS, 1);
     LOAD(THIEF, CHANNEL, tmp);
#endif
     if
     :: tmp == OPEN ->
        asleep = true;
end_sleeps: mem[WAITS] == 0;
        asleep = false
     :: else -> atomic { DRAINED(THIEF) -> mem[WAITS] = 0 }; mem[CHANNEL] == FULL
     fi;
     tmp = 0
  od;
  atomic {
    assert(message != 0);
    run_once(message - 1);
    if
    :: message == sent -> done = true
    :: else
    fi;
    message = 0
  };
  STORE(THIEF, CHANNEL, CLOSED);
  is_broadcast = false;
  goto again
}

active proctype observer() {
  /* Nothing moves any more. */
  timeout -> assert(owner_is_done && (!asleep || mem[CHANNEL] == OPEN))
}

init { atomic { run drain(OWNER); run drain(PASSER); run drain(THIEF) } }
