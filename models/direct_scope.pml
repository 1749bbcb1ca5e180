/* A scope on the direct task stack: its owner runs the tasks from the oldest to the newest, each where it lies, while
   thieves steal. One owner, two thieves, total store order. Words as in src/schedulers/direct/protocol.md.

   Checked: as in direct_steal.pml; an emptied task runs nothing.

   Every store that is neither an exchange nor a CAS is plain. There is one scope at a time, of all tasks above any one; the
   tasks below belong to joins. With WAITS a task of the scope may wait in the system. */

#ifndef SLOTS
#define SLOTS 3
#endif
#ifndef FORKS
#define FORKS 3
#endif
#ifndef THIEVES
#define THIEVES 2
#endif

#define PROCS (THIEVES + 1)
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
#define RUN(i) (SLOTS + (i))
#define BOT (2 * SLOTS)
#define PUBLIC_END (2 * SLOTS + 1)
#define SPLIT (2 * SLOTS + 2)
#define WORDS (2 * SLOTS + 3)
#define REQUESTED 255

/* The content of a descriptor: a task's number, or nothing if the closure was moved out. */
#define NOTHING 15

#include "tso.pml"

/* State that the checker knows and the program does not. */
#define NOBODY 0
#define LIVE 1    /* forked, and not taken off */
#define PASSED 2  /* by a thief, or by the owner that had emptied it: `bot` is above it, or about to be */
byte place[SLOTS];
byte task_in[SLOTS];
bool emptied[SLOTS];  /* the owner knows it, too: what `run` is was stored by it */
short ran;            /* a bit a task */
bool finished;

inline run_once(id) {
  assert((ran & (1 << id)) == 0);
  ran = ran | (1 << id)
}

/* Makes tasks from public_end on public, any number of those that are not emptied, but at least one if there is one. */
inline publish(below) {
  i = public_end;
  LOAD(OWNER, BOT, s);
#ifdef MUTANT_PASSES_IN_PUBLISH_WITHOUT_LOOKING
  s = public_end;
#endif
  do
  :: i < below && s == public_end && emptied[i] ->
     atomic { place[i] = PASSED; STORE(OWNER, STATE(i), DONE); i++ }
  :: else -> break
  od;
  oldest = i;
  do
  :: i < below -> STORE(OWNER, STATE(i), TASK); i++
  :: i > oldest || i == below -> break
  od;
  STORE(OWNER, PUBLIC_END, i);
#ifndef MUTANT_PUBLISHES_WITHOUT_MOVING_BOT
  if
  :: oldest != public_end -> STORE(OWNER, BOT, oldest)
  :: else
  fi;
#endif
  public_end = i;
  if
  :: i > oldest -> atomic { DRAINED(OWNER) -> mem[SPLIT] = public_end }
  :: else /* nothing was offered: a request stays */
#ifndef MUTANT_LEAVES_SPLIT
     atomic {
       DRAINED(OWNER) ->
       if
       :: mem[SPLIT] != REQUESTED -> mem[SPLIT] = public_end
       :: else
       fi
     }
#endif
  fi;
  atomic { i = 0; s = 0; oldest = 0 }
}

inline fork_task() {
  t = top;
  atomic { task_in[t] = next; place[t] = LIVE; next++; top++ };
  STORE(OWNER, RUN(t), task_in[t]);
  LOAD(OWNER, SPLIT, s);
  assert(s == REQUESTED || s == public_end);
  if
  :: t >= s -> skip
  :: t < s && t < public_end -> STORE(OWNER, STATE(t), TASK)
  :: t < s && t >= public_end -> publish(top)
  fi;
  atomic { t = 0; s = 0 }
}

/* ---- the scope ---- */

/* The owner holds t, which others may lie above, as private or as OWNED. */
inline empty_and_run() {
#ifndef MUTANT_EMPTIES_BEFORE_TAKING
  if
  :: !emptied[t] -> LOAD(OWNER, RUN(t), id)
  :: else
  fi;
  atomic { assert(id == task_in[t]); emptied[t] = true };
#ifndef MUTANT_RUN_CHANGED_LAST
  if
  :: is_public || !was_asked -> STORE(OWNER, RUN(t), NOTHING)
  :: else
  fi;
#endif
#endif
  if
  :: is_public ->
#ifdef MUTANT_PASSES_WITHOUT_LOOKING
     s = t;
#else
     LOAD(OWNER, BOT, s);
#endif
     if
     :: s == t ->
#ifdef VARIANT_BOT_BEFORE_STATE
        atomic { place[t] = PASSED; STORE(OWNER, BOT, t + 1) };
        STORE(OWNER, STATE(t), DONE)
#else
        STORE(OWNER, STATE(t), DONE);
#ifndef MUTANT_LEAVES_BOT
        atomic { place[t] = PASSED; STORE(OWNER, BOT, t + 1) }
#endif
#endif
     :: else ->
#ifdef MUTANT_DONE_WHEREVER_BOT_IS
        STORE(OWNER, STATE(t), DONE)
#else
        STORE(OWNER, STATE(t), TASK)
#endif
     fi
  :: else
  fi;
#ifdef MUTANT_RUN_CHANGED_LAST
  STORE(OWNER, RUN(t), NOTHING);
#endif
  d_step { run_once(id); id = 0; s = 0 };
#ifdef WAITS
  /* The task may wait in the system; before that its worker offers all that it has. */
  if
  :: top > public_end ->
     do
     :: top > public_end -> publish(top)
     :: else -> break
     od
  :: true
  fi
#endif
}

inline take_and_run() {
  t = at;
  LOAD(OWNER, SPLIT, s);
  is_public = t < public_end;
  was_asked = t < s && !is_public && t + 1 < top;
  if
  :: was_asked ->
     /* It stays the owner's, and is emptied for all others. */
     LOAD(OWNER, RUN(t), id);
     emptied[t] = true;
#ifndef MUTANT_PUBLISHES_WHAT_IT_HAS
     STORE(OWNER, RUN(t), NOTHING);
#endif
     publish(top)
  :: else
  fi;
#ifdef MUTANT_EMPTIES_BEFORE_TAKING
  LOAD(OWNER, RUN(t), id);
  emptied[t] = true;
  STORE(OWNER, RUN(t), NOTHING);
#endif
  if
  :: is_public ->
#ifdef MUTANT_TAKES_WITHOUT_CAS
     LOAD(OWNER, STATE(t), s);
     if
     :: s == TASK -> STORE(OWNER, STATE(t), OWNED)
     :: else
     fi;
#else
     atomic {
       DRAINED(OWNER) -> s = mem[STATE(t)];
       if
       :: s == TASK -> mem[STATE(t)] = OWNED
       :: else
       fi
     };
#endif
     if
     :: s == TASK -> empty_and_run()
     :: else /* a thief has it; or gives it back, and the join takes it */
     fi
  :: else -> empty_and_run()
  fi;
  atomic { at++; t = 0; s = 0; is_public = false; was_asked = false; id = 0 }
}

/* All have been looked at: private ones go. */
inline drop_emptied() {
  do
#ifdef MUTANT_DROPS_PUBLIC
  :: top > base ->
#else
  :: top > base && top > public_end ->
     assert(emptied[top - 1]);
#endif
     atomic { top--; place[top] = NOBODY; task_in[top] = 0; emptied[top] = false }
  :: else -> break
  od;
  atomic { in_order = false; at = 0; base = 0; end = 0 }
}

/* ---- the join, as in direct_steal.pml ---- */

inline forget() {
  d_step { place[t] = NOBODY; task_in[t] = 0; emptied[t] = false; top-- }
}

/* The owner has the task at t, and nothing lies above it. */
inline run_inline() {
  LOAD(OWNER, RUN(t), s);
  d_step {
    assert(place[t] == LIVE);
    assert(s == (emptied[t] -> NOTHING : task_in[t]));
    if
    :: s != NOTHING -> run_once(s)
    :: else
    fi
  };
  forget()
}

inline take_result() {
  d_step {
    assert(place[t] == PASSED);
    assert((ran & (1 << task_in[t])) != 0)
  }
  LOAD(OWNER, BOT, s);
  assert(s == t + 1);
  STORE(OWNER, BOT, t);
  STORE(OWNER, STATE(t), EMPTY);
  forget()
}

inline privatise() {
  atomic { STORE(OWNER, PUBLIC_END, t); public_end = t };
  atomic { DRAINED(OWNER) -> mem[SPLIT] = t }
}

inline join_public() {
  skip;
again:
  EXCHANGE(OWNER, STATE(t), EMPTY, s);
  if
  :: s == TASK ->
     run_inline();
     if
     :: privatise()
     :: skip
     fi
  :: s == EMPTY || s == STOLEN ->
     /* A thief has it, or decides. */
     if
     :: s == EMPTY -> atomic { mem[STATE(t)] != EMPTY -> s = mem[STATE(t)] }
     :: else
     fi;
     if
     :: s == TASK -> goto again
     :: else -> atomic { mem[STATE(t)] == DONE -> skip }; take_result()
     fi
  :: s == DONE -> take_result()
  :: s == OWNED -> assert(false)
  fi
}

inline join_newest() {
  t = top - 1;
  LOAD(OWNER, SPLIT, s);
  if
  :: t < s && t >= public_end && t > public_end -> publish(t)
  :: else
  fi;
  if
  :: t >= public_end ->
     LOAD(OWNER, STATE(t), s);
     assert(s == EMPTY);
     run_inline()
  :: else -> join_public()
  fi;
  atomic { t = 0; s = 0 }
}

proctype owner() {
  byte top, t, i, s, id, oldest;
  byte public_end;
  byte next = 1;
  /* the scope that is run in order: tasks [base, end), of which [at, end) are to come */
  bool in_order, is_public, was_asked;
  byte base, at, end;

  do
  :: top < SLOTS && next <= FORKS -> fork_task()
  :: !in_order && top > 0 && !emptied[0] && !emptied[top - 1] ->
     atomic {
       in_order = true;
       end = top;
       base = 0;
       do
       :: base + 1 < top -> base++
       :: break
       od;
       /* The rest of an earlier one is joined. */
       i = base;
       do
       :: i < top && emptied[i] -> in_order = false; i++
       :: i < top && !emptied[i] -> i++
       :: else -> break
       od;
       i = 0;
       at = base;
       if
       :: in_order
       :: else -> base = 0; at = 0; end = 0
       fi
     }
  :: in_order && top == end && at < end -> take_and_run()
  :: in_order && top == end && at == end -> drop_emptied()
  :: top > (in_order -> end : 0) -> join_newest()
  :: !in_order && top == 0 && next > FORKS -> break
  od;
  atomic { assert(ran == (1 << (FORKS + 1)) - 2); finished = true }
}

/* As in direct_steal.pml: a look that finds nothing is not a step, so a process that waits in vain is a deadlock. */
proctype thief(byte me) {
  byte b, s;

look:
  atomic { b = mem[BOT] };
have_bot:
  end: if
  :: b < mem[PUBLIC_END] -> skip
  :: b >= mem[PUBLIC_END] && mem[SPLIT] != REQUESTED -> STORE_SC(me, SPLIT, REQUESTED); goto have_bot
  :: mem[BOT] != b -> goto look
  fi;
  end2: if
  :: atomic { DRAINED(me) && mem[STATE(b)] == TASK -> mem[STATE(b)] = EMPTY }
  :: mem[STATE(b)] != TASK && mem[BOT] != b -> goto look
  :: mem[STATE(b)] != TASK && b >= mem[PUBLIC_END] -> goto have_bot
  fi;
  LOAD(me, BOT, s);
  if
  :: s != b -> STORE(me, STATE(b), TASK); atomic { b = 0; s = 0 }; goto again
  :: else
  fi;
  d_step {
    /* It is the oldest that was neither taken nor passed. */
    assert(place[b] == LIVE);
    s = 0;
    do
    :: s < b -> assert(place[s] == PASSED); s++
    :: else -> break
    od;
    place[b] = PASSED;
    s = 0
  }
  STORE(me, STATE(b), STOLEN);
  STORE(me, BOT, b + 1);
  LOAD(me, RUN(b), s);
  d_step {
    assert(s == (emptied[b] -> NOTHING : task_in[b]));
    if
    :: s != NOTHING -> run_once(s)
    :: else
    fi
  };
  STORE_SC(me, STATE(b), DONE);
  atomic { b = 0; s = 0 };
again:
  if
  :: goto look
  :: skip
  fi
}

init {
  atomic {
    run owner();
    run thief(1);
#if THIEVES > 1
    run thief(2);
#endif
    run drain(0);
    run drain(1);
#if THIEVES > 1
    run drain(2)
#endif
  }
}
