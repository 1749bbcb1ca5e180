/* A scope on the direct task stack, and thieves that sleep as soon as they find nothing. One owner, two thieves, total
   store order. The owner has forked all tasks, some of them public, and runs the tasks of the scope from the oldest to the
   newest.

   Checked: as in direct_idle.pml. If nothing is left for thieves and one sleeps, the owner is still requested.

   Contents of tasks are in direct_scope.pml, forks and joins in direct_idle.pml. A store that is seq_cst in the code for the
   sake of sleepers drains the queue of stores; all others are plain. */

#ifndef TASKS
#define TASKS 2
#endif

#define PROCS 3
#define OWNER 0
#ifndef DEPTH
#define DEPTH 4
#endif

/* states of a descriptor */
#define EMPTY 0
#define TASK 1
#define STOLEN 2
#define DONE 3
#define OWNED 4  /* the code's `taken` */

/* words of memory */
#define STATE(i) (i)
#define BOT (TASKS)
#define PUBLIC_END (TASKS + 1)
#define SPLIT (TASKS + 2)
#define SLEEPERS (TASKS + 3)
#define WAITS(p) (TASKS + 4 + (p))
#define WORDS (TASKS + 7)
#define REQUESTED 255

#include "tso.pml"

bool busy[PROCS];     /* in a task that lasts until nothing else can move */
bool emptied[TASKS];  /* the owner has run it */
bool finished;

#define MAY_RUN_IT(what) ((what) == FOR_ANYTHING)
#define NTH(n) (n)
#include "sleepers.pml"

inline ask_owner(me, tmp) {
  LOAD(me, SPLIT, tmp);
  if
  :: tmp != REQUESTED -> STORE_SC(me, SPLIT, REQUESTED)
  :: else
  fi;
  tmp = 0
}

/* `tmp` becomes TASK if the owner offers one. */
inline offers_task(me, bot, tmp) {
  LOAD(me, BOT, bot);
  LOAD(me, PUBLIC_END, tmp);
  if
  :: bot < tmp -> LOAD(me, STATE(bot), tmp)
  :: else -> tmp = EMPTY
  fi;
  atomic { bot = 0; if :: tmp != TASK -> tmp = EMPTY :: else fi }
}

inline pass_on(me, i, s) {
  LOAD(me, SLEEPERS, s);
  if
  :: s > 0 ->
     offers_task(me, i, s);
     if
     :: s == TASK -> wake_one(me, i, s)
     :: else
     fi
  :: else
  fi;
  atomic { i = 0; s = 0 }
}

/* ---- the owner ---- */

/* Makes tasks from public_end on public, any number. */
inline publish() {
  i = public_end;
  LOAD(OWNER, BOT, s);
  do
  :: i < TASKS && s == public_end && emptied[i] -> STORE(OWNER, STATE(i), DONE); i++
  :: else -> break
  od;
  oldest = i;
  do
  :: i < TASKS -> STORE(OWNER, STATE(i), TASK); i++
  :: i > oldest || i == TASKS -> break
  od;
  STORE_SC(OWNER, PUBLIC_END, i);
  if
  :: oldest != public_end -> STORE_SC(OWNER, BOT, oldest)
  :: else
  fi;
  public_end = i;
  if
  :: i > oldest ->
     STORE_SC(OWNER, SPLIT, public_end);
     atomic { i = 0; s = 0 };
     task_is_public(OWNER, i, s);
     LOAD(OWNER, SLEEPERS, s);
     LOAD(OWNER, BOT, i);
     if
     :: s > public_end - i -> ask_owner(OWNER, s)
     :: else
     fi
  :: else
  fi;
  atomic { i = 0; s = 0; oldest = 0 }
}

inline move_bot(to) {
#ifdef MUTANT_MOVES_BOT_BY_PLAIN_STORE
  STORE(OWNER, BOT, to)
#else
  STORE_SC(OWNER, BOT, to)
#endif
}

inline emptied_public() {
  LOAD(OWNER, BOT, s);
  if
  :: s == t ->
     STORE(OWNER, STATE(t), DONE);
#ifdef MUTANT_LOOKS_BEFORE_PASSING
     pass_on(OWNER, i, s);
#endif
     move_bot(t + 1);
#ifndef MUTANT_NO_TRIP_WIRE
     LOAD(OWNER, SLEEPERS, s);
     if
     :: s > 0 && t + 1 == public_end -> ask_owner(OWNER, s)
     :: else
     fi;
#endif
#if !defined(MUTANT_LOOKS_BEFORE_PASSING) && !defined(MUTANT_PASSES_WITHOUT_A_LOOK)
     pass_on(OWNER, i, s)
#endif
  :: else ->
#ifdef MUTANT_RELEASES_BY_PLAIN_STORE
     STORE(OWNER, STATE(t), TASK);
#else
     STORE_SC(OWNER, STATE(t), TASK);
#endif
#ifndef MUTANT_RELEASES_WITHOUT_A_LOOK
     pass_on(OWNER, i, s)
#endif
  fi
}

proctype owner() {
  byte t, i, s, oldest;
  byte public_end = mem[PUBLIC_END];

  /* Those that lie below are joins'. */
  if
  :: t = 0
  :: t = 1
  fi;
  do
  :: t < TASKS ->
     LOAD(OWNER, SPLIT, s);
     if
     :: t < public_end ->
        atomic {
          DRAINED(OWNER) -> s = mem[STATE(t)];
          if
          :: s == TASK -> mem[STATE(t)] = OWNED
          :: else
          fi
        };
        if
        :: s == TASK ->
           /* One fewer for thieves: do more sleep than are left? */
           if
           :: public_end < TASKS ->
              LOAD(OWNER, SLEEPERS, s);
              LOAD(OWNER, BOT, i);
              if
              :: s > public_end - i - 1 -> publish()
              :: else -> i = 0
              fi
           :: else
           fi;
           atomic { emptied[t] = true; s = 0 };
           emptied_public();
           s = TASK
        :: else -> s = EMPTY
        fi
     :: else ->
        emptied[t] = true;
        if
        :: s == REQUESTED && t + 1 < TASKS -> publish()
        :: else
        fi;
        s = TASK
     fi;
     /* The task looks at requests, as a fork does, and may last. */
     if
     :: s == TASK ->
        LOAD(OWNER, SPLIT, s);
        if
        :: s == REQUESTED && public_end < TASKS -> publish()
        :: else
        fi;
        if
        :: busy[OWNER] = true; !busy[OWNER]
        :: skip
        fi
     :: else
     fi;
     atomic { t++; s = 0 }
  :: t == TASKS -> break
  od;
  finished = true
}

/* ---- a thief ---- */

proctype thief(byte me) {
  byte b, s, i;

look:
  skip;
  LOAD(me, BOT, b);
  LOAD(me, PUBLIC_END, s);
  if
  :: b >= s -> ask_owner(me, s); goto nothing
  :: else
  fi;
  atomic {
    DRAINED(me) ->
    if
    :: mem[STATE(b)] == TASK -> mem[STATE(b)] = EMPTY; s = TASK
    :: else -> s = EMPTY
    fi
  };
  if
  :: s != TASK -> goto nothing
  :: else
  fi;
  /* The re-check: nothing is joined here, so `bot` is where it was. */
  LOAD(me, BOT, s);
  assert(s == b);
  STORE(me, STATE(b), STOLEN);
  STORE_SC(me, BOT, b + 1);
  LOAD(me, PUBLIC_END, s);
  if
  :: b + 1 >= s -> ask_owner(me, s)
  :: else
  fi;
  pass_on(me, i, s);
  if
  :: !emptied[b] -> busy[me] = true; !busy[me]
  :: skip
  fi;
  STORE_SC(me, STATE(b), DONE);
  atomic { b = 0; s = 0; i = 0 };
  goto look;

nothing:
  atomic { b = 0; s = 0 };
  announce(me, FOR_ANYTHING, s);
  ask_owner(me, s);
  offers_task(me, b, s);
  if
  :: s == TASK ->
     retract(me, s);
     s = 0;
     goto look
  :: else
  fi;
  end: DRAINED(me) && !ASLEEP(me);
  goto look
}

/* ---- the observer: when nothing can move ---- */

proctype observer() {
  bool sleeper_misses_task, request_is_lost;

  end: do
  :: timeout ->
     atomic {
       sleeper_misses_task =
           (ASLEEP(1) || ASLEEP(2)) && mem[BOT] < mem[PUBLIC_END] && mem[STATE(mem[BOT])] == TASK;
       assert(!sleeper_misses_task);
       request_is_lost =
           busy[OWNER] && mem[SPLIT] != REQUESTED && (ASLEEP(1) || ASLEEP(2)) && mem[PUBLIC_END] == mem[BOT];
       assert(!request_is_lost);
       if
       :: busy[0] -> busy[0] = false
       :: busy[1] -> busy[1] = false
       :: busy[2] -> busy[2] = false
       :: !busy[0] && !busy[1] && !busy[2] -> assert(finished); break
       fi
     }
  od
}

init {
  atomic {
    byte k;
    /* Any number of them is public. */
    do
    :: k < TASKS -> mem[STATE(k)] = TASK; k++
    :: break
    od;
    mem[PUBLIC_END] = k;
    mem[SPLIT] = REQUESTED;
    k = 0;
    run owner();
    run thief(1);
    run thief(2);
    run drain(0);
    run drain(1);
    run drain(2);
    run observer()
  }
}
