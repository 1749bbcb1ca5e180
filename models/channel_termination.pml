/* The full task barrier of filch::channel: a caller that detaches tasks and waits for them, the next call at its place,
   another caller's place aside, and two threads. These take detached tasks of both calls, run them, detach more, and send some
   on. The call counter counts workers other than the caller, and messages, that have tasks of its call. Only exchanges and
   compare-and-swaps matter here, so memory is sequentially consistent. Not modelled: joined tasks.

   Checked: when the barrier returns, no task of its call is left; a worker's tasks have one root. */

#ifndef TASKS
#define TASKS 2       /* that a call detaches at first */
#endif
#ifndef FORKS
#define FORKS 1       /* more, by tasks that run */
#endif
#ifndef CALLS
#define CALLS 2       /* at the place, one after the other */
#endif

#define WORKERS 3
#define CALLER 0

#define CLOSED 0
#define OPEN 1
#define CLAIMED 2
#define FULL 3

#define NO_ROOT 0     /* of a worker without tasks; what a thief waits for that may have any */
/* 1 to CALLS: the calls; after them: what they have left */
#define LEFT (CALLS + 1)

byte channel[WORKERS];
byte wanted[WORKERS];      /* the root that the thief waits for */
byte sent[WORKERS];        /* detached tasks in the message */
byte sent_root[WORKERS];

byte list[WORKERS];        /* detached tasks that a worker has, and has not begun */
byte running[WORKERS];     /* and that it runs */
byte root[WORKERS];
bool counted[WORKERS];

byte call = 1;             /* whose counter it is */
byte counter;
byte left;                 /* tasks that callers left */
byte forks = FORKS;
byte alive[CALLS + 2];     /* detached tasks of each root, wherever they are: for the assertions alone */
bool asleep;               /* the caller */
bool woken;
bool all_calls_are_over;

inline add(r) {
  atomic {
    if
#ifdef MUTANT_COUNTER_DOES_NOT_KNOW_ITS_CALL
    :: r != LEFT -> counter++
#else
    :: r == call -> counter++
#endif
    :: else
    fi
  }
}

/* And wakes the caller. */
inline subtract(r, zero) {
  atomic {
    zero = false;
    if
#ifdef MUTANT_COUNTER_DOES_NOT_KNOW_ITS_CALL
    :: r != LEFT -> counter--; zero = (counter == 0)
#else
    :: r == call -> assert(counter > 0); counter--; zero = (counter == 0)
#endif
    :: else
    fi
  };
#ifndef MUTANT_DOES_NOT_WAKE
  if
  :: zero -> atomic { zero = false; woken = true }
  :: else
  fi
#else
  zero = false
#endif
}

inline subtract_if_last(me, zero) {
  if
#ifdef MUTANT_LEAVES_WHILE_IT_RUNS
  :: counted[me] && list[me] == 0 -> counted[me] = false; subtract(root[me], zero)
#else
  :: counted[me] && list[me] == 0 && running[me] == 0 -> counted[me] = false; subtract(root[me], zero)
#endif
  :: else
  fi
}

/* To a thief whose channel is claimed: one of its tasks. */
inline send(me, thief, zero) {
#ifndef MUTANT_COUNTS_AFTER_SENDING
  add(root[me]);
#endif
  atomic { list[me]--; sent[thief] = 1; sent_root[thief] = root[me]; channel[thief] = FULL };
#ifdef MUTANT_COUNTS_AFTER_SENDING
  add(root[me]);
#endif
  subtract_if_last(me, zero)
}

inline receive(me, zero) {
  atomic {
    assert(root[me] == NO_ROOT || root[me] == sent_root[me]);
    root[me] = sent_root[me]; list[me] = list[me] + sent[me]; sent[me] = 0; sent_root[me] = 0;
    channel[me] = CLOSED; wanted[me] = 0
  };
  if
  :: me == CALLER || counted[me] -> subtract(root[me], zero)
#ifdef MUTANT_DOES_NOT_TAKE_THE_COUNT_OVER
  :: else -> subtract(root[me], zero)
#else
  :: else ->
     if
     :: root[me] != LEFT -> counted[me] = true
     :: else
     fi
#endif
  fi
}

#define HAS_SOME(me) (list[me] > 0)
#define MAY_SEND(me, thief) \
  (list[me] > 0 && channel[thief] == OPEN && (wanted[thief] == NO_ROOT || wanted[thief] == root[me]))

inline detach(me) {
  forks--; alive[root[me]]++; list[me]++
}

active proctype caller() {
  byte i;
  bool zero;
  do
  :: call <= CALLS ->
     atomic { root[CALLER] = call; list[CALLER] = TASKS; alive[call] = TASKS };
     /* In its own code it may send tasks, or begin the barrier, or leave without one. */
     do
     :: atomic { MAY_SEND(CALLER, 1) -> channel[1] = CLAIMED }; send(CALLER, 1, zero)
     :: atomic { MAY_SEND(CALLER, 2) -> channel[2] = CLAIMED }; send(CALLER, 2, zero)
     :: break
     od;
     if
     :: skip ->   /* the barrier */
        do
        :: atomic { channel[CALLER] == FULL -> skip }; receive(CALLER, zero)
        :: atomic { channel[CALLER] == CLOSED -> wanted[CALLER] = call; channel[CALLER] = OPEN }
        :: atomic { list[CALLER] > 0 -> list[CALLER]--; running[CALLER]++ };
           if
           :: atomic { forks > 0 -> detach(CALLER) }
           :: skip
           fi;
           atomic { running[CALLER]--; alive[call]-- }
        :: atomic { MAY_SEND(CALLER, 1) -> channel[1] = CLAIMED }; send(CALLER, 1, zero)
        :: atomic { MAY_SEND(CALLER, 2) -> channel[2] = CLAIMED }; send(CALLER, 2, zero)
#ifdef MUTANT_CALLER_FORGETS_ITS_OWN
        :: atomic { counter == 0 -> assert(alive[call] == 0) }; break
#else
        :: atomic { list[CALLER] == 0 && counter == 0 -> assert(alive[call] == 0) }; break
#endif
        :: list[CALLER] == 0 && channel[CALLER] == OPEN ->   /* it sleeps */
           woken = false;                                    /* announced */
           if
           :: counter != 0 && channel[CALLER] == OPEN ->
              asleep = true;
              woken || channel[CALLER] == FULL;              /* the sender of a message wakes it, too: channel-5 */
              asleep = false
           :: else
           fi
        od;
        assert(list[CALLER] == 0)
     :: skip
     fi;
     /* Withdraws, and leaves. */
     if
     :: atomic { channel[CALLER] == OPEN -> channel[CALLER] = CLOSED; wanted[CALLER] = 0 }
     :: channel[CALLER] == CLOSED
     :: atomic { channel[CALLER] == FULL -> skip }; receive(CALLER, zero)
     fi;
     atomic {
       alive[LEFT] = alive[LEFT] + list[CALLER];
       alive[call] = alive[call] - list[CALLER];
       left = left + list[CALLER];
       list[CALLER] = 0;
       root[CALLER] = NO_ROOT
     };
     atomic {
       call++;
#ifndef MUTANT_COUNTER_CONTINUES
       counter = 0
#endif
     }
  :: else -> break
  od;
  all_calls_are_over = true
}

proctype thread(byte me) {
  bool zero;
end_idle: do
  /* Without any task. */
  :: atomic { list[me] == 0 && running[me] == 0 && channel[me] == CLOSED ->
       root[me] = NO_ROOT; wanted[me] = NO_ROOT; channel[me] = OPEN }
  :: atomic { list[me] == 0 && running[me] == 0 && left > 0 && channel[me] != CLAIMED && channel[me] != FULL ->
       channel[me] = CLOSED; root[me] = LEFT; list[me] = left; left = 0 }
  /* In a task, which waits in a join. */
  :: atomic { running[me] == 1 && channel[me] == CLOSED ->
#ifdef MUTANT_WAITS_FOR_ANY
       wanted[me] = NO_ROOT;
#else
       wanted[me] = root[me];
#endif
       channel[me] = OPEN }
  :: atomic { running[me] > 0 && channel[me] == OPEN -> channel[me] = CLOSED; wanted[me] = 0 }  /* the wait ends */
  :: channel[me] == FULL -> receive(me, zero)
  /* One task on top of another. */
  :: atomic { list[me] > 0 && running[me] < 2 && channel[me] == CLOSED -> list[me]--; running[me]++ }
  :: atomic { running[me] > 0 && forks > 0 -> detach(me) }
  :: atomic { running[me] > 0 && channel[me] == CLOSED ->
       running[me]--; alive[root[me]]-- };
     subtract_if_last(me, zero)
  :: atomic { MAY_SEND(me, 3 - me) -> channel[3 - me] = CLAIMED }; send(me, 3 - me, zero)
  :: atomic { MAY_SEND(me, CALLER) -> channel[CALLER] = CLAIMED }; send(me, CALLER, zero)
  od
}

active proctype observer() {
  /* Nothing moves any more. */
  timeout -> assert(all_calls_are_over && left == 0 && alive[1] == 0 && alive[CALLS] == 0 && alive[LEFT] == 0)
}

init { atomic { run thread(1); run thread(2) } }
