/* A worker that waits in a join runs only tasks that its thief offers, and sleeps. Total store order.

   Checked: no sleeper misses a public task that it may run, no joiner its result; the count of sleepers is right; the
   joiner runs no task that was forked after its own had ended.

   There are three workers: a joiner, whose task the thief runs; the thief, which forks public tasks in that task and,
   after it, in tasks that it finds elsewhere; and an idle worker. */

#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef FORKS
#define FORKS 3
#endif

#define PROCS 3
#define JOINER 0
#define THIEF 1
#define IDLER 2
#ifndef DEPTH
#define DEPTH 4
#endif

/* states of a descriptor */
#define EMPTY 0
#define TASK 1
#define STOLEN 2
#define DONE 3
#define WAITED 4

/* words of memory: the thief's descriptors, all of them public, and the joiner's one */
#define STATE(i) (i)
#define JOINED (SLOTS)
#define BOT (SLOTS + 1)
#define SLEEPERS (SLOTS + 2)
#define WAITS(p) (SLOTS + 3 + (p))
#define WORDS (SLOTS + 6)

#include "tso.pml"

bool busy[PROCS];
bool downwards;      /* the order in which a waker looks at workers depends on their numbers */
bool left;           /* the joiner has its result and is elsewhere */
bool finished;       /* the thief has nothing more to offer */
bool told;           /* the joiner's task has ended */
bool late[SLOTS];    /* forked after that */

#define MAY_RUN_IT(what) ((what) != AWAKE)
#define NTH(n) (downwards -> PROCS - 1 - (n) : (n))
#include "sleepers.pml"

#ifdef MUTANT_BACKS_OFF_BY_PLAIN_STORE
#define STORE_BACK STORE
#else
#define STORE_BACK STORE_SC
#endif

/* `into` becomes TASK if the thief offers one. */
inline offers_task(me, bot, into) {
  LOAD(me, BOT, bot);
  if
  :: bot < SLOTS -> LOAD(me, STATE(bot), into)
  :: else -> into = EMPTY
  fi;
  atomic { bot = 0; if :: into != TASK -> into = EMPTY :: else fi }
}

inline pass_on(me, n, found) {
  LOAD(me, SLEEPERS, found);
  if
  :: found > 0 ->
     offers_task(me, n, found);
     if
     :: found == TASK -> wake_one(me, n, found)
     :: else
     fi
  :: else
  fi;
  found = 0
}

/* The second half of the re-check: `found` stays b if the task may be run. */
#ifdef MUTANT_RUNS_WHAT_IS_FORKED_LATER
#define MAY_LEAPFROG(me, n, found, b) skip
#else
#define MAY_LEAPFROG(me, n, found, b) \
  if \
  :: me == JOINER -> \
     LOAD(me, JOINED, n); \
     if \
     :: n == DONE -> found = SLOTS \
     :: else \
     fi; \
     n = 0 \
  :: else \
  fi
#endif

/* One attempt; b is SLOTS afterwards if it came to nothing. */
inline steal_and_run(me, b, found, n) {
  LOAD(me, BOT, b);
  if
  :: b < SLOTS ->
     atomic {
       DRAINED(me) ->
       if
       :: mem[STATE(b)] == TASK -> mem[STATE(b)] = EMPTY
       :: else -> b = SLOTS
       fi
     }
  :: else
  fi;
  if
  :: b < SLOTS ->
     LOAD(me, BOT, found);
     if
     :: found != b -> skip
     :: else -> found = b; MAY_LEAPFROG(me, n, found, b)
     fi;
     if
     :: found != b -> STORE_BACK(me, STATE(b), TASK); b = SLOTS; pass_on(me, n, found)
     :: else ->
        assert(me != JOINER || !late[b]);
        STORE(me, STATE(b), STOLEN);
        STORE_SC(me, BOT, b + 1);
        pass_on(me, n, found);
        if
        :: busy[me] = true; !busy[me]
        :: skip
        fi;
        STORE_SC(me, STATE(b), DONE)
     fi
  :: else
  fi;
  found = 0
}

proctype joiner() {
  byte b, s, n;

  do
  :: LOAD(JOINER, JOINED, s);
     if
     :: s == DONE -> break
     :: else
     fi;
     steal_and_run(JOINER, b, s, n);
     if
     :: b < SLOTS -> b = 0
     :: b == SLOTS ->
        b = 0;
        if
        :: skip  /* looks again */
        :: announce(JOINER, FOR_ONE, s);
           LOAD(JOINER, JOINED, s);
           if
           :: s == DONE || s == WAITED -> skip
           :: else ->
              atomic {
                DRAINED(JOINER) ->
                s = mem[JOINED];
                if
                :: s != DONE -> mem[JOINED] = WAITED; s = WAITED
                :: else
                fi
              }
           fi;
           if
           :: s == WAITED -> offers_task(JOINER, n, s)
           :: else -> s = TASK
           fi;
           if
           :: s == TASK -> retract(JOINER, s)
           :: else -> DRAINED(JOINER) && !ASLEEP(JOINER)
           fi
        fi
     fi;
     s = 0
  od;
#ifndef MUTANT_LEAVES_WITHOUT_PASSING_ON
  /* It may have been woken to run a task that it leaves where it is, or have held one for a moment. */
  pass_on(JOINER, n, s);
#endif
  left = true
}

proctype thief() {
  byte t, top, forked, s, n;

  do
  :: top < SLOTS && forked < FORKS ->
     t = top;
     atomic { top++; forked++; late[t] = told };
     STORE_SC(THIEF, STATE(t), TASK);
     task_is_public(THIEF, n, s);
     if
     :: busy[THIEF] = true; !busy[THIEF]
     :: skip
     fi;
     atomic { t = 0; s = 0 }
  :: top > 0 ->
     t = top - 1;
again:
     EXCHANGE(THIEF, STATE(t), EMPTY, s);
     if
     :: s == TASK -> skip
     :: else ->
        atomic { s == DONE || mem[STATE(t)] == TASK || mem[STATE(t)] == DONE };
        if
        :: s != DONE && mem[STATE(t)] == TASK -> goto again
        :: else
        fi;
        STORE(THIEF, BOT, t);
        STORE(THIEF, STATE(t), EMPTY)
     fi;
     top--;
     atomic { t = 0; s = 0 }
  :: top == 0 && !told ->
     told = true;
     EXCHANGE(THIEF, JOINED, DONE, s);
     if
     :: s == WAITED -> wake(THIEF, JOINER, s)
     :: else
     fi;
     s = 0
  :: top == 0 && told && forked == FORKS -> break
  od;
  finished = true
}

proctype idler() {
  byte b, s, n;

look:
  skip;
  steal_and_run(IDLER, b, s, n);
  if
  :: b < SLOTS -> b = 0; goto look
  :: else -> b = 0
  fi;
  announce(IDLER, FOR_ANYTHING, s);
  offers_task(IDLER, n, s);
  if
  :: s == TASK -> retract(IDLER, s); s = 0; goto look
  :: else
  fi;
  end: DRAINED(IDLER) && !ASLEEP(IDLER) -> goto look
}

/* ---- the observer: when nothing can move ---- */

#define OFFERED (mem[BOT] < SLOTS && mem[STATE(mem[BOT])] == TASK)

proctype observer() {
  /* named for the message of the assertion that fails */
  bool count_is_right, sleeper_misses_task, joiner_misses_result;

  end: do
  :: timeout ->
     atomic {
       count_is_right = mem[SLEEPERS] == ASLEEP(JOINER) + ASLEEP(IDLER);
       assert(count_is_right);
       count_is_right = false;
       sleeper_misses_task = OFFERED && (ASLEEP(JOINER) || ASLEEP(IDLER));
       assert(!sleeper_misses_task);
       joiner_misses_result = ASLEEP(JOINER) && mem[JOINED] == DONE;
       assert(!joiner_misses_result);
       /* One task ends. If no worker has one, all is over. */
       if
       :: busy[0] -> busy[0] = false
       :: busy[1] -> busy[1] = false
       :: busy[2] -> busy[2] = false
       :: !busy[0] && !busy[1] && !busy[2] -> assert(finished && left); break
       fi
     }
  od
}

init {
  atomic {
    mem[JOINED] = STOLEN;
    if :: downwards = true :: skip fi;
    run joiner();
    run thief();
    run idler();
    run drain(0);
    run drain(1);
    run drain(2);
    run observer()
  }
}
