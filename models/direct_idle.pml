/* Sleeping and waking with the direct task stack. One owner, two thieves that sleep as soon as they find nothing, total
   store order.

   Checked: no sleeper misses a public task, no joiner its result. While more thieves sleep or are late than tasks are public, a
   busy owner's next fork serves them.

   Payloads and results are left out; direct_steal.pml has them. A store that is seq_cst in the code for the sake of this
   protocol drains the queue of stores; all others are plain. */

#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef FORKS
#define FORKS 3
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
#define WAITED 4

/* words of memory */
#define STATE(i) (i)
#define BOT (SLOTS)
#define PUBLIC_END (SLOTS + 1)
#define SPLIT (SLOTS + 2)
#define SLEEPERS (SLOTS + 3)
#define LOOKING (SLOTS + 4)
#define WAITS(p) (SLOTS + 5 + (p))
#define WORDS (SLOTS + 8)
#define REQUESTED 255

#include "tso.pml"

bool busy[PROCS];   /* in a task that lasts until nothing else can move */
byte top;           /* the owner's; global for the observer to see */
byte joining;       /* 1 + the place that the owner sleeps for */
bool finished;

#ifdef MUTANT_FORKS_BY_PLAIN_STORE
#define STORE_TASK STORE
#else
#define STORE_TASK STORE_SC
#endif
#ifdef VARIANT_PUBLIC_END_BY_PLAIN_STORE
#define STORE_PUBLIC_END STORE
#else
#define STORE_PUBLIC_END STORE_SC
#endif
#ifdef MUTANT_THIEF_MOVES_BOT_BY_PLAIN_STORE
#define STORE_BOT STORE
#else
#define STORE_BOT STORE_SC
#endif
#ifdef VARIANT_REQUEST_BY_PLAIN_STORE
#define STORE_REQUEST STORE
#else
#define STORE_REQUEST STORE_SC
#endif

#define MAY_RUN_IT(what) ((what) == FOR_ANYTHING)
#define NTH(n) (n)
#include "sleepers.pml"

/* ---- asking and looking ---- */

inline ask_owner(me, tmp) {
  LOAD(me, SPLIT, tmp);
  if
  :: tmp != REQUESTED -> STORE_REQUEST(me, SPLIT, REQUESTED)
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

/* ---- the owner ---- */

/* Do more workers look for tasks than the owner offers below `end`? `count` and `bot` are zero afterwards. */
inline asks_for_others(end, count, bot) {
#ifdef MUTANT_ASKS_FOR_SLEEPERS_ONLY
  LOAD(OWNER, SLEEPERS, count);
#else
  LOAD(OWNER, LOOKING, count);
#endif
  LOAD(OWNER, BOT, bot);
  if
  :: end < bot + count -> ask_owner(OWNER, count)
  :: else
  fi;
  atomic { count = 0; bot = 0 }
}

inline publish(below) {
  i = public_end;
  do
  :: i < below -> STORE(OWNER, STATE(i), TASK); i++
  :: i > public_end -> break
  od;
  public_end = i;
  STORE_PUBLIC_END(OWNER, PUBLIC_END, i);
  i = 0;
#ifdef MUTANT_LOWERS_SPLIT_BY_PLAIN_STORE
  STORE(OWNER, SPLIT, public_end);
#else
  STORE_SC(OWNER, SPLIT, public_end);
#endif
  task_is_public(OWNER, i, s);
  asks_for_others(public_end, s, i)
}

inline privatise() {
  STORE(OWNER, PUBLIC_END, t);
  public_end = t;
#ifdef MUTANT_PRIVATISE_LOOKS_FIRST
  LOAD(OWNER, LOOKING, s);
  LOAD(OWNER, BOT, i);
  if
  :: t < i + s -> STORE_SC(OWNER, SPLIT, REQUESTED)
  :: else -> STORE_SC(OWNER, SPLIT, t)
  fi;
  atomic { s = 0; i = 0 }
#else
  STORE_SC(OWNER, SPLIT, t);
#ifndef MUTANT_PRIVATISE_DROPS_REQUEST
  asks_for_others(t, s, i)
#endif
#endif
}

inline sleep_until_done() {
  looks_for_tasks(OWNER);
#ifndef MUTANT_ANNOUNCES_AFTER_ASKING_TO_BE_WOKEN
  announce(OWNER, FOR_ONE, s);
#endif
#ifdef MUTANT_ASKS_TO_BE_WOKEN_WITHOUT_CAS
  LOAD(OWNER, STATE(t), s);
  if
  :: s != DONE -> STORE_SC(OWNER, STATE(t), WAITED); s = WAITED
  :: else
  fi;
#else
  atomic {
    DRAINED(OWNER) ->
    s = mem[STATE(t)];
    if
    :: s != DONE -> mem[STATE(t)] = WAITED; s = WAITED
    :: else
    fi
  };
#endif
#ifdef MUTANT_ANNOUNCES_AFTER_ASKING_TO_BE_WOKEN
  announce(OWNER, FOR_ONE, i);
#endif
  if
  :: s == DONE ->
     retract(OWNER, s)
  :: else ->
     joining = t + 1;
     atomic { DRAINED(OWNER) && !ASLEEP(OWNER) -> joining = 0 }
  fi
}

inline join_public() {
  skip;
again:
  EXCHANGE(OWNER, STATE(t), EMPTY, s);
  if
  :: s == TASK -> if :: privatise() :: skip fi; goto joined
  :: s == EMPTY ->
     atomic { mem[STATE(t)] != EMPTY -> s = mem[STATE(t)] };
     if
     :: s == TASK -> goto again
     :: else
     fi
  :: else
  fi;
  do
  :: s == DONE -> break
  :: s != DONE ->
     LOAD(OWNER, STATE(t), s);
     if
     :: s != DONE -> sleep_until_done(); LOAD(OWNER, STATE(t), s)
     :: else
     fi
  od;
#ifdef VARIANT_OWNER_MOVES_BOT_BY_PLAIN_STORE
  STORE(OWNER, BOT, t);
#else
  STORE_SC(OWNER, BOT, t);
#endif
  STORE(OWNER, STATE(t), EMPTY);
joined:
  has_work(OWNER)
}

proctype owner() {
  byte t, i, s, public_end, forked;

  do
  :: top < SLOTS && forked < FORKS ->
     t = top;
     atomic { top++; forked++ };
     LOAD(OWNER, SPLIT, s);
     if
     :: t >= s -> skip
     :: t < s && t < public_end ->
        STORE_TASK(OWNER, STATE(t), TASK);
        /* That answers a request, if there is one. */
        if
        :: s == REQUESTED -> STORE_SC(OWNER, SPLIT, public_end)
        :: else
        fi;
#ifdef MUTANT_ANSWERS_IN_PLACE_AND_LOOKS_FOR_NOBODY
        if
        :: s != REQUESTED -> task_is_public(OWNER, i, s); asks_for_others(t + 1, s, i)
        :: else
        fi
#else
        s = 0;
        task_is_public(OWNER, i, s);
        asks_for_others(t + 1, s, i)
#endif
     :: t < s && t >= public_end -> publish(top)
     fi;
     /* Its next step may last. */
     if
     :: busy[OWNER] = true; !busy[OWNER]
     :: skip
     fi;
     atomic { t = 0; s = 0 }
  :: top > 0 ->
     t = top - 1;
     LOAD(OWNER, SPLIT, s);
     if
     :: t >= s -> skip
     :: t < s && t >= public_end ->
        if
        :: t > public_end -> publish(t)
        :: else
        fi
     :: t < s && t < public_end -> join_public()
     fi;
     top--;
     if
     :: busy[OWNER] = true; !busy[OWNER]
     :: skip
     fi;
     atomic { t = 0; s = 0 }
  :: top == 0 && forked == FORKS -> break
  od;
  finished = true
}

/* ---- a thief ---- */

proctype thief(byte me) {
  byte b, s, i;

  may_be_late(me);
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
  :: s != TASK -> goto nothing  /* where it asks; in the code it asks here, too */
  :: else
  fi;
  LOAD(me, BOT, s);
  if
  :: s != b -> STORE(me, STATE(b), TASK); goto look
  :: else
  fi;
  STORE(me, STATE(b), STOLEN);
  STORE_BOT(me, BOT, b + 1);
  has_work(me);
#ifndef MUTANT_NO_TRIP_WIRE
  LOAD(me, PUBLIC_END, s);
  if
  :: b + 1 >= s -> ask_owner(me, s)
  :: else
  fi;
#endif
#ifndef MUTANT_DOES_NOT_PASS_ON
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
#endif
  if
  :: busy[me] = true; !busy[me]
  :: skip
  fi;
#ifdef MUTANT_DONE_BY_LOAD_AND_STORE
  LOAD(me, STATE(b), s);
  STORE_SC(me, STATE(b), DONE);
#else
  EXCHANGE(me, STATE(b), DONE, s);
#endif
  if
  :: s == WAITED ->
     wake(me, OWNER, s)
  :: else
  fi;
  atomic { b = 0; s = 0; i = 0 };
  goto look;

nothing:
  atomic { b = 0; s = 0 };
#ifndef MUTANT_COUNTED_AFTER_ASKING
  looks_for_tasks(me);
#endif
  announce(me, FOR_ANYTHING, s);
#ifndef MUTANT_SLEEPS_WITHOUT_REQUEST
  ask_owner(me, s);
#endif
#ifdef MUTANT_COUNTED_AFTER_ASKING
  looks_for_tasks(me);
#endif
#ifndef MUTANT_SLEEPS_WITHOUT_LAST_LOOK
  offers_task(me, b, s);
  if
  :: s == TASK ->
     retract(me, s);
     s = 0;
     goto look
  :: else
  fi;
#endif
  end: DRAINED(me) && !ASLEEP(me) -> may_be_late(me);
  goto look
}

/* ---- the observer: when nothing can move ---- */

proctype observer() {
  /* named for the message of the assertion that fails */
  bool count_is_right, sleeper_misses_task, fork_passes_sleeper_by, joiner_misses_result;

  end: do
  :: timeout ->
     atomic {
       count_is_right = mem[SLEEPERS] == ASLEEP(0) + ASLEEP(1) + ASLEEP(2);
       assert(count_is_right);
       count_is_right = false;
       sleeper_misses_task =
           (ASLEEP(1) || ASLEEP(2)) && !late[1] && !late[2] && mem[BOT] < mem[PUBLIC_END] && mem[STATE(mem[BOT])] == TASK;
       assert(!sleeper_misses_task);
       /* Private tasks are not for the taking; but the owner's next fork must lead to the slow path, unless as many
          are public as workers sleep, or are late. */
       fork_passes_sleeper_by = busy[OWNER] && top >= mem[SPLIT] &&
           ASLEEP(1) + ASLEEP(2) + late[1] + late[2] > mem[PUBLIC_END] - mem[BOT];
       assert(!fork_passes_sleeper_by);
       joiner_misses_result = joining != 0 && mem[STATE(joining - 1)] == DONE;
       assert(!joiner_misses_result);
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
    mem[SPLIT] = REQUESTED;  /* for workers that have yet to come */
    mem[LOOKING] = 2;
    looks[1] = true;
    looks[2] = true;
    run owner();
    run thief(1);
    run thief(2);
    run drain(0);
    run drain(1);
    run drain(2);
    run observer()
  }
}
