/* Waiting in a join of filch::channel under total store order: an owner whose task was sent away and that requests
   other tasks from its thief meanwhile, and the thief, which forks TASKS times in it.

   Checked: the task runs once, by its owner if declined. */

#ifndef TASKS
#define TASKS 2
#endif

#define PROCS 2
#define OWNER 0
#define THIEF 1
#define DEPTH 3

/* words of memory */
#define FUTURE(t) (t)               /* of each task of the thief; then of the owner's */
#define OWNERS TASKS
#define CHANNEL (TASKS + 1)         /* the state of the owner's task channel */
#define PLACE (TASKS + 2)           /* the owner's place in the thief's request channel */
#define DOORBELL (TASKS + 3)            /* the thief's */
#define WAITS(p) (TASKS + 4 + (p))
#define WORDS (TASKS + 6)

#define PENDING 0
#define DONE 1
#define DECLINED 3
#define WAITED 4

#define CLOSED 0
#define OPEN 1
#define CLAIMED 2
#define FULL 3
#define TAKEN_BACK 4   /* a message that was taken back; the thief fills it again */

#include "tso.pml"

byte runs[TASKS];
byte message;   /* 1 + the task that was sent */
bool finished[PROCS];

inline wake(me, whom) {
  atomic { DRAINED(me) -> mem[WAITS(whom)] = 0 }
}

/* The worker that runs the task sends its outcome. */
inline tell(me, whom, task, what, tmp) {
#ifdef MUTANT_TELLS_BY_LOAD_AND_STORE
  LOAD(me, FUTURE(task), tmp);
  STORE_SC(me, FUTURE(task), what);
#else
  EXCHANGE(me, FUTURE(task), what, tmp);
#endif
  if
  :: tmp == WAITED -> wake(me, whom)
  :: else
  fi;
  tmp = 0
}

/* `tmp` becomes WAITED if there is no message. */
inline wait_for_message(me, task, tmp) {
  atomic {
    DRAINED(me) ->
    if
    :: mem[FUTURE(task)] == PENDING || mem[FUTURE(task)] == WAITED -> mem[FUTURE(task)] = WAITED; tmp = WAITED
    :: else -> tmp = 0
    fi
  }
}

/* The owner: `tmp` becomes the message, 0 if it is empty, and 255 if it is not there. */
inline receive(tmp) {
#ifdef MUTANT_RECEIVES_WITHOUT_CAS
  LOAD(OWNER, CHANNEL, tmp);
  if
  :: tmp == FULL || tmp == TAKEN_BACK -> tmp = message; STORE_SC(OWNER, CHANNEL, CLOSED)
  :: else -> tmp = 255
  fi
#else
  atomic {
    DRAINED(OWNER) ->
    if
    :: mem[CHANNEL] == FULL || mem[CHANNEL] == TAKEN_BACK -> mem[CHANNEL] = CLOSED; tmp = 0
    :: else -> tmp = 255
    fi
  };
  if
  :: tmp == 0 -> tmp = message
  :: else
  fi
#endif
}

/* The thief: `has` becomes 1 if it got task n back. */
inline take_back(tmp) {
  atomic {
    DRAINED(THIEF) ->
    if
    :: mem[CHANNEL] == FULL -> mem[CHANNEL] = CLAIMED; tmp = 1
    :: else -> tmp = 0
    fi
  };
  if
  :: tmp == 1 ->
     if
     :: message == n + 1 -> message = 0; has = 1; STORE(THIEF, CHANNEL, TAKEN_BACK)
     :: else -> STORE(THIEF, CHANNEL, FULL)
     fi
  :: else
  fi;
  tmp = 0
}

inline announce(me) { STORE_SC(me, WAITS(me), 1) }

active proctype owner() {
  byte tmp;
  bool asks;
  do
  :: mem[FUTURE(OWNERS)] == DONE -> break
  :: asks && (mem[CHANNEL] == FULL || mem[CHANNEL] == TAKEN_BACK) ->
     receive(tmp);
     if
     :: tmp == 255 -> skip  /* it is being taken back */
     :: tmp == 0 -> asks = false
     :: tmp != 255 && tmp != 0 ->
        asks = false;
        assert(runs[tmp - 1] == 0); runs[tmp - 1]++;
        if
        :: tmp == 1 -> tell(OWNER, THIEF, 0, DONE, tmp)
        :: else -> tell(OWNER, THIEF, 1, DONE, tmp)
        fi
     fi;
     tmp = 0
  :: !asks ->
     STORE_SC(OWNER, CHANNEL, OPEN);
     STORE_SC(OWNER, PLACE, 1);
     STORE_SC(OWNER, DOORBELL, 1);
     asks = true
  :: asks ->
#ifdef MUTANT_ANNOUNCES_LAST
     wait_for_message(OWNER, OWNERS, tmp);
     announce(OWNER);
#else
     announce(OWNER);
     wait_for_message(OWNER, OWNERS, tmp);
#endif
#ifndef MUTANT_SLEEPS_WITHOUT_A_LOOK_AT_ITS_CHANNEL
     if
     :: tmp == WAITED -> LOAD(OWNER, CHANNEL, tmp); if :: tmp == OPEN -> tmp = WAITED :: else fi
     :: else
     fi;
#endif
     if
     :: tmp == WAITED -> mem[WAITS(OWNER)] == 0
     :: else -> STORE_SC(OWNER, WAITS(OWNER), 0)
     fi;
     tmp = 0
  od;
#ifndef MUTANT_LEAVES_WITHOUT_WITHDRAWING
  if
  :: asks ->
#ifdef MUTANT_WITHDRAWS_WITHOUT_CAS
     LOAD(OWNER, CHANNEL, tmp);
     if
     :: tmp == OPEN -> STORE_SC(OWNER, CHANNEL, CLOSED); tmp = 1
     :: else -> tmp = 0
     fi;
#else
     atomic {
       DRAINED(OWNER) ->
       if
       :: mem[CHANNEL] == OPEN -> mem[CHANNEL] = CLOSED; tmp = 1
       :: else -> tmp = 0
       fi
     };
#endif
     if
     :: tmp == 0 ->
        do
        :: mem[CHANNEL] == FULL || mem[CHANNEL] == TAKEN_BACK -> receive(tmp); if :: tmp != 255 -> break :: else fi
        od;
#ifdef MUTANT_DROPS_WHAT_COMES_LATE
        skip
#else
        if
        :: tmp == 0
        :: tmp == 1 -> tell(OWNER, THIEF, 0, DECLINED, tmp)
        :: tmp > 1 -> tell(OWNER, THIEF, 1, DECLINED, tmp)
        fi
#endif
     :: else
     fi
  :: else
  fi;
#endif
  finished[OWNER] = true
}

active proctype thief() {
  byte n, tmp, has;
  bool told;
  do
  /* Its forks from here on belong to another task. */
  :: !told -> tell(THIEF, OWNER, OWNERS, DONE, tmp); told = true
  :: n < TASKS ->
     has = 1;
     LOAD(THIEF, DOORBELL, tmp);
     if
     :: tmp == 0 -> LOAD(THIEF, CHANNEL, tmp); tmp = (tmp == TAKEN_BACK -> 1 : 0)
     :: else
     fi;
     if
     :: tmp == 1 ->
        EXCHANGE(THIEF, DOORBELL, 0, tmp);
        EXCHANGE(THIEF, PLACE, 0, tmp);
        /* Its own request for an owner that has not looked yet. */
        if
        :: tmp == 0 -> LOAD(THIEF, CHANNEL, tmp); tmp = (tmp == TAKEN_BACK -> 1 : 0)
        :: else
        fi;
        if
        :: tmp == 1 ->
#ifdef MUTANT_FILLS_WITHOUT_CAS
           LOAD(THIEF, CHANNEL, tmp);
           if
           :: tmp == TAKEN_BACK || tmp == OPEN -> STORE_SC(THIEF, CHANNEL, CLAIMED); tmp = 1
           :: else -> tmp = 0
           fi;
#else
           atomic {
             DRAINED(THIEF) ->
             if
             :: mem[CHANNEL] == OPEN || mem[CHANNEL] == TAKEN_BACK -> mem[CHANNEL] = CLAIMED
             :: else -> tmp = 0
             fi
           };
#endif
           if
           :: tmp == 1 ->
              message = n + 1;
              has = 0;
              STORE_SC(THIEF, CHANNEL, FULL);
              LOAD(THIEF, WAITS(OWNER), tmp);
              if
              :: tmp == 1 -> wake(THIEF, OWNER)
              :: else
              fi
           :: else
           fi
        :: else
        fi
     :: else
     fi;
     if
     :: has == 0 -> take_back(tmp)
     :: has == 0  /* where it was sent on, there is nothing to take back */
     :: else
     fi;
     if
     :: has == 0 ->
        do
        :: mem[FUTURE(n)] == DONE -> break
#ifdef MUTANT_TAKES_DECLINED_FOR_DONE
        :: mem[FUTURE(n)] == DECLINED -> break
#else
        :: mem[FUTURE(n)] == DECLINED -> has = 1; break
#endif
        :: mem[FUTURE(n)] != DONE && mem[FUTURE(n)] != DECLINED ->
           announce(THIEF);
           wait_for_message(THIEF, n, tmp);
           if
           :: tmp == WAITED -> mem[WAITS(THIEF)] == 0
           :: else -> STORE_SC(THIEF, WAITS(THIEF), 0)
           fi
        od
     :: else
     fi;
     if
     :: has == 1 -> assert(runs[n] == 0); runs[n]++
     :: else
     fi;
     tmp = 0; n++
  :: told && n == TASKS -> break
  od;
  finished[THIEF] = true
}

active proctype observer() {
  /* Nothing moves any more. */
  timeout -> assert(finished[OWNER] && finished[THIEF] && runs[0] == 1 && runs[TASKS - 1] == 1)
}

init { atomic { run drain(OWNER); run drain(THIEF) } }
