/* Sleeping and waking with the cactus deque, under total store order: an owner, and two thieves that sleep as soon as
   they find nothing. Words as in src/schedulers/cactus/protocol.md.

   Checked: no sleeper misses a public task. While more thieves sleep or are late than tasks are public, a busy owner's next fork
   serves them. What an owner forks while requested is public while a thief sleeps.

   Joins that wait are in cactus_join_counter.pml; places are in cactus_deque.pml. */

#ifndef FORKS
#define FORKS 3
#endif

#define PROCS 3
#define OWNER 0
#ifndef DEPTH
#define DEPTH 3
#endif

/* words of memory; TAIL and SPLIT are halves of one word, `open`, and change by locked instructions */
#define TAIL 0
#define SPLIT 1
#define REQUEST 2  /* the pointer `split` */
#define SLEEPERS 3
#define LOOKING 4
#define WAITS(p) (5 + (p))
#define WORDS 8

/* what the request's word says */
#define QUIET 0
#define STANDING 1
#define RAISED 2

#include "tso.pml"

bool busy[PROCS];      /* in a task that lasts until nothing else can move */
bool done[FORKS + 1];  /* the task that was in this place was stolen, and has come to its end */
byte head;             /* the owner's; global for the observer to see */
byte split;            /* what the owner last stored */
bool was_quiet;        /* forks have been private */
bool finished;

#define MAY_RUN_IT(what) ((what) == FOR_ANYTHING)
#define NTH(n) (n)
#include "sleepers.pml"

/* ---- asking and looking ---- */

inline ask_owner(me, tmp) {
  LOAD(me, REQUEST, tmp);
  if
  :: tmp != RAISED -> STORE_SC(me, REQUEST, RAISED)
  :: else
  fi;
  tmp = 0
}

#define OFFERS_TASK (mem[TAIL] < mem[SPLIT])

/* ---- the owner ---- */

/* Do more workers look for tasks than the owner offers? `count` and `taken` are zero afterwards. */
inline asks_for_others(count, taken) {
#ifdef MUTANT_ASKS_FOR_SLEEPERS_ONLY
  LOAD(OWNER, SLEEPERS, count);
#else
  LOAD(OWNER, LOOKING, count);
#endif
  LOAD(OWNER, TAIL, taken);
  if
  :: split < taken + count -> ask_owner(OWNER, count)
  :: else
  fi;
  atomic { count = 0; taken = 0 }
}

inline take_request_away(leaves) {
#ifdef MUTANT_LOOKS_FIRST
  LOAD(OWNER, LOOKING, i);
#endif
#ifdef MUTANT_MAKES_QUIET_BY_PLAIN_STORE
  STORE(OWNER, REQUEST, leaves);
#else
  STORE_SC(OWNER, REQUEST, leaves);
#endif
  was_quiet = was_quiet || leaves == QUIET;
#ifdef MUTANT_LOOKS_FIRST
  if
  :: i > 0 -> ask_owner(OWNER, i)
  :: else
  fi;
  i = 0
#else
#ifndef MUTANT_DROPS_REQUEST
  asks_for_others(i, s)
#endif
#endif
}

inline publish(below) {
  LOAD(OWNER, REQUEST, s);
  if
  :: s == RAISED ->
#ifdef MUTANT_PUBLISH_MAKES_QUIET
     STORE_SC(OWNER, REQUEST, QUIET)
#else
     STORE_SC(OWNER, REQUEST, STANDING)
#endif
  :: else
  fi;
  split = split + (below - split + 1) / 2;
#ifdef MUTANT_PUBLISHES_BY_PLAIN_STORE
  STORE(OWNER, SPLIT, split);
#else
  STORE_SC(OWNER, SPLIT, split);
#endif
#ifndef MUTANT_PUBLISHES_WITHOUT_WAKING
  task_is_public(OWNER, i, s);
#endif
  asks_for_others(i, s);
  /* Many are public: the next forks need not be. */
  if
  :: split > mem[TAIL] -> take_request_away(QUIET)
  :: skip
  fi
}

/* The join of the newest task. Below head all that is older is joined later. */
inline join_newest() {
  LOAD(OWNER, REQUEST, s);
  if
  :: head > split ->
     head--;
     if
     :: s == RAISED && head > split -> publish(head)
     :: s == STANDING -> take_request_away(QUIET)  /* after some in a row; here at any time */
     :: s != RAISED || head == split
     fi
  :: else ->
     /* One locked instruction decides; a failing one is tried again. */
     if
     :: atomic { DRAINED(OWNER) && mem[TAIL] < head -> head--; mem[SPLIT] = head; split = head };
        if
        :: s != QUIET -> skip  /* the request, or its answer, stands */
        :: take_request_away(QUIET)
        fi
     :: atomic { mem[TAIL] >= head -> waits_for = head }
     fi
  fi;
  s = 0
}

proctype owner() {
  byte i, s, forked, waits_for;
  byte open_joins;
  byte joins[FORKS];

  do
  :: forked < FORKS ->
     atomic { joins[open_joins] = head; open_joins++; head++; forked++ };
     LOAD(OWNER, REQUEST, s);
     if
     :: s == QUIET -> skip
     :: else -> publish(head)
     fi;
     s = 0;
     /* Its next step may last. */
     if
     :: busy[OWNER] = true; !busy[OWNER]
     :: skip
     fi
  :: open_joins > 0 ->
     join_newest();
     if
     :: waits_for > 0 -> done[joins[open_joins - 1]]
     :: else ->
        if
        :: busy[OWNER] = true; !busy[OWNER]
        :: skip
        fi
     fi;
     d_step { open_joins--; joins[open_joins] = 0; waits_for = 0 }
  :: open_joins == 0 && forked == FORKS -> break
  od;
  finished = true
}

/* ---- a thief ---- */

proctype thief(byte me) {
  byte t, s, i;

#ifndef AWAKE_AT_FIRST
  may_be_late(me);
#endif
look:
  atomic {
    DRAINED(me) ->
    if
    :: OFFERS_TASK -> t = mem[TAIL]; mem[TAIL] = t + 1
    :: else -> goto nothing
    fi
  };
  has_work(me);
  LOAD(me, SPLIT, s);
#ifndef MUTANT_NO_TRIP_WIRE
  if
  :: t + 1 == s -> ask_owner(me, s)
  :: else
  fi;
#endif
  s = 0;
#ifndef MUTANT_DOES_NOT_PASS_ON
  LOAD(me, SLEEPERS, s);
  if
  :: s > 0 ->
     if
     :: atomic { OFFERS_TASK -> s = 0 }; wake_one(me, i, s)
     :: atomic { !OFFERS_TASK -> s = 0 }
     fi
  :: else
  fi;
#endif
  if
  :: busy[me] = true; !busy[me]
  :: skip
  fi;
  atomic { done[t] = true; t = 0; s = 0; i = 0 };
  goto look;

nothing:
  ask_owner(me, s);
#ifndef MUTANT_COUNTED_AFTER_ASKING
  looks_for_tasks(me);
#endif
#ifndef VARIANT_ASKS_BEFORE_ANNOUNCING
  announce(me, FOR_ANYTHING, s);
  ask_owner(me, s);
#else
  ask_owner(me, s);
  announce(me, FOR_ANYTHING, s);
#endif
#ifdef MUTANT_COUNTED_AFTER_ASKING
  looks_for_tasks(me);
#endif
#ifndef MUTANT_SLEEPS_WITHOUT_A_LAST_LOOK
  if
  :: atomic { OFFERS_TASK -> s = 0 }; retract(me, s); s = 0; goto look
  :: atomic { !OFFERS_TASK -> s = 0 }
  fi;
#endif
  end: DRAINED(me) && !ASLEEP(me) -> may_be_late(me);
  goto look
}

/* ---- the observer: when nothing can move ---- */

proctype observer() {
  /* named for the message of the assertion that fails */
  bool count_is_right, sleeper_misses_task, fork_passes_sleeper_by, sleeper_waits_for_a_fork;

  end: do
  :: timeout ->
     atomic {
       count_is_right = mem[SLEEPERS] == ASLEEP(0) + ASLEEP(1) + ASLEEP(2);
       assert(count_is_right);
       count_is_right = false;
       sleeper_misses_task = (ASLEEP(1) || ASLEEP(2)) && !late[1] && !late[2] && OFFERS_TASK;
       assert(!sleeper_misses_task);
       /* The owner's next fork must lead to the slow path, unless as many are public as workers sleep, or are late. */
       fork_passes_sleeper_by = busy[OWNER] && mem[REQUEST] == QUIET &&
           ASLEEP(1) + ASLEEP(2) + late[1] + late[2] > mem[SPLIT] - mem[TAIL];
       assert(!fork_passes_sleeper_by);
       /* Nor does it take a next fork, where all were made while a request stood. */
       sleeper_waits_for_a_fork =
           (ASLEEP(1) || ASLEEP(2) || late[1] || late[2]) && busy[OWNER] && !was_quiet && split < head;
       assert(!sleeper_waits_for_a_fork);
       /* One task ends. If no worker has one, all is over. */
       if
       :: busy[0] -> busy[0] = false
       :: busy[1] -> busy[1] = false
       :: busy[2] -> busy[2] = false
       :: late[1] -> late[1] = false
       :: late[2] -> late[2] = false
       :: !busy[0] && !busy[1] && !busy[2] && !late[1] && !late[2] -> assert(finished); break
       fi
     }
  od
}

init {
  atomic {
#ifdef AWAKE_AT_FIRST
    was_quiet = true;
#else
    mem[REQUEST] = STANDING;  /* for workers that have yet to come */
    mem[LOOKING] = 2;
    looks[1] = true;
    looks[2] = true;
#endif
    run owner();
    run thief(1);
    run thief(2);
    run drain(0);
    run drain(1);
    run drain(2);
    run observer()
  }
}
