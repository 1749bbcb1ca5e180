/* The direct task stack: fork, join, publish, privatise and steal. One owner, two thieves, total store order. Words as in
   src/schedulers/direct/protocol.md.

   Checked: each task runs once, with its own payload and result; thieves take the oldest; the owner finishes (acyclic).

   Every release or relaxed store of the code is a plain store here. So are seq_cst stores whose order only the idle
   protocol needs (direct_idle.pml): if this model passes, it passes with them, too. */

#ifndef SLOTS
#define SLOTS 3  /* descriptors: the deepest nesting */
#endif
#ifndef FORKS
#define FORKS 4  /* more than SLOTS, so that descriptors are used again */
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

/* words of memory */
#define STATE(i) (i)
#define PAYLOAD(i) (SLOTS + (i))
#define BOT (2 * SLOTS)
#define PUBLIC_END (2 * SLOTS + 1)
#define SPLIT (2 * SLOTS + 2)
#define WORDS (2 * SLOTS + 3)
#define REQUESTED 255

/* A payload is the number of its task; the result of that task is the number plus this. */
#define RESULT 16

#include "tso.pml"

/* State that the checker knows and the program does not. */
#define NOBODY 0
#define LIVE 1   /* forked, and not taken */
#define TAKEN 2  /* by a thief */
byte place[SLOTS];
byte task_in[SLOTS];   /* which task the owner forked there */
bool offered[SLOTS];   /* the owner made it public */
short ran;             /* a bit a task */
bool finished;

inline run_once(id) {
  assert((ran & (1 << id)) == 0);
  ran = ran | (1 << id)
}

/* Makes tasks from public_end on public; at least one, and no more than lie below `below`. Which number the
   code chooses is its policy; here it is any. */
inline publish(below) {
#ifdef VARIANT_PUBLIC_END_FIRST
  atomic {
    i = public_end;
    do
    :: i < below -> i++
    :: i > public_end -> break
    od
  }
  STORE(OWNER, PUBLIC_END, i);
  do
  :: public_end < i ->
     atomic { offered[public_end] = true; STORE(OWNER, STATE(public_end), TASK); public_end++ }
  :: else -> break
  od;
#else
  i = public_end;
  do
  :: i < below ->
     atomic { offered[i] = true; STORE(OWNER, STATE(i), TASK); i++ }
  :: i > public_end -> break
  od;
  atomic { STORE(OWNER, PUBLIC_END, i); public_end = i };
#endif
  atomic { DRAINED(OWNER) -> mem[SPLIT] = public_end; i = 0 }
}

inline fork_task() {
  t = top;
  atomic { task_in[t] = next; place[t] = LIVE; next++; top++ };
#ifndef MUTANT_STATE_BEFORE_PAYLOAD
  STORE(OWNER, PAYLOAD(t), task_in[t]);
#endif
  LOAD(OWNER, SPLIT, s);
  if
  :: t >= s -> skip
  :: t < s && t < public_end ->
     atomic { offered[t] = true; STORE(OWNER, STATE(t), TASK) };
     /* That answers a request, if there is one. */
     if
     :: s == REQUESTED -> atomic { DRAINED(OWNER) -> mem[SPLIT] = public_end }
     :: else
     fi
  :: t < s && t >= public_end -> publish(top)
  fi;
#ifdef MUTANT_STATE_BEFORE_PAYLOAD
  STORE(OWNER, PAYLOAD(t), task_in[t]);
#endif
  d_step { t = 0; s = 0 }
}

/* The owner has the task at t and runs it itself. */
inline run_inline() {
  LOAD(OWNER, PAYLOAD(t), s);
  d_step {
    assert(s == task_in[t]);
    assert(place[t] == LIVE);
    run_once(s);
    place[t] = NOBODY;
    offered[t] = false;
    task_in[t] = 0;
    top--
  }
}

/* No thief can have it: its state was never anything but empty. */
inline run_private() {
  LOAD(OWNER, STATE(t), s);
  assert(s == EMPTY);
  run_inline()
}

/* The thief of t is done. */
inline take_result() {
  LOAD(OWNER, PAYLOAD(t), s);
  d_step {
    assert(s == task_in[t] + RESULT);        /* written, by this very task */
    assert((ran & (1 << task_in[t])) != 0);
    assert(place[t] == TAKEN)
  }
  LOAD(OWNER, BOT, s);
  assert(s == t + 1);                        /* all below are stolen, and nothing above is left */
#ifndef MUTANT_OWNER_KEEPS_BOT
  STORE(OWNER, BOT, t);
#endif
#ifndef MUTANT_DONE_LEFT_BEHIND
  STORE(OWNER, STATE(t), EMPTY);
#endif
  d_step { place[t] = NOBODY; offered[t] = false; task_in[t] = 0; waits[t] = false; top-- }
}

inline privatise() {
  atomic { STORE(OWNER, PUBLIC_END, t); public_end = t };
  atomic { DRAINED(OWNER) -> mem[SPLIT] = t }
}

inline join_public() {
#ifdef MUTANT_PRIVATISE_WITHOUT_ACQUIRING
  /* Lowers the border, and then takes the task for private. */
  if
  :: privatise(); run_inline(); goto joined
  :: skip
  fi;
#endif
  skip;
again:
#ifdef MUTANT_JOIN_WITHOUT_EXCHANGE
  skip;
  LOAD(OWNER, STATE(t), s);
  STORE(OWNER, STATE(t), EMPTY);
#else
  EXCHANGE(OWNER, STATE(t), EMPTY, s);
#endif
  if
  :: s == TASK ->
     run_inline();
     /* After some such joins in a row; here at any. */
     if
     :: privatise()
     :: skip
     fi
#ifdef MUTANT_JOIN_TAKES_EMPTY_FOR_STOLEN
  :: s == EMPTY -> waits[t] = true
#else
  :: s == EMPTY ->
     /* A thief has claimed it and decides. */
     atomic { mem[STATE(t)] != EMPTY -> s = mem[STATE(t)] };
     if
     :: s == TASK ->
#ifdef MUTANT_JOIN_TAKES_BACK_WITHOUT_EXCHANGE
        STORE(OWNER, STATE(t), EMPTY);
        run_inline()
#else
        goto again
#endif
     :: s == STOLEN -> waits[t] = true
     :: s == DONE -> take_result()
     fi
#endif
  :: s == STOLEN ->
#ifdef MUTANT_JOIN_DOES_NOT_WAIT
     take_result()
#else
     waits[t] = true
#endif
  :: s == DONE -> take_result()
  fi;
joined:
  skip
}

proctype owner() {
  byte top, t, i, s;
  byte public_end;      /* its last store; no other process writes that word */
  byte next = 1;
  bool waits[SLOTS];    /* in a join there, for the thief; forks of what it runs meanwhile lie above */

  do
  :: top < SLOTS && next <= FORKS -> fork_task()
  :: top > 0 && !waits[top - 1] ->
     t = top - 1;
     LOAD(OWNER, SPLIT, s);
     if
     :: t >= s -> run_private()
     :: t < s && t >= public_end ->
        /* It was only a request; grant it if there is anything below. */
        if
        :: t > public_end -> publish(t)
        :: else
        fi;
        run_private()
     :: t < s && t < public_end -> join_public()
     fi;
     d_step { t = 0; s = 0 }
  :: top > 0 && waits[top - 1] ->
     /* A state that waits for the thief is never in the owner's queue: its exchange emptied that. */
     atomic { mem[STATE(top - 1)] == DONE -> t = top - 1 };
     take_result();
     d_step { t = 0; s = 0 }
  :: top == 0 && next > FORKS -> break
  od;
  atomic { assert(ran == (1 << (FORKS + 1)) - 2); finished = true }
}

/* A look that finds nothing and changes nothing is not a step here: the thief waits until a look would find
   something, with the `bot` that it has read, or `bot` is another. So a process that waits in vain shows as a
   deadlock, and a run that never ends would be a cycle. */
proctype thief(byte me) {
  byte b, s;

look:
  atomic { b = mem[BOT] };  /* its own store of it is long in memory */
have_bot:
  end: if
  :: b < mem[PUBLIC_END] -> skip
  :: (b >= mem[PUBLIC_END] || mem[STATE(b)] != TASK) && mem[SPLIT] != REQUESTED -> STORE_SC(me, SPLIT, REQUESTED); goto have_bot
  :: mem[BOT] != b -> goto look
  fi;
  end2: if
#ifdef MUTANT_CLAIM_WITHOUT_CAS
  :: mem[STATE(b)] == TASK -> STORE(me, STATE(b), EMPTY)
#else
  :: atomic { DRAINED(me) && mem[STATE(b)] == TASK -> mem[STATE(b)] = EMPTY; assert(offered[b]) }
#endif
  :: mem[STATE(b)] != TASK && mem[BOT] != b -> goto look
  :: mem[STATE(b)] != TASK && b >= mem[PUBLIC_END] -> goto have_bot
  fi;
#ifdef MUTANT_BOT_BEFORE_RECHECK
  STORE(me, BOT, b + 1);
#endif
#ifndef MUTANT_NO_RECHECK
  LOAD(me, BOT, s);
#ifdef MUTANT_BOT_BEFORE_RECHECK
  s--;
#endif
  if
  :: s != b ->
#ifdef MUTANT_BACK_OFF_LEAVES_EMPTY
     skip;  /* the descriptor stays claimed */
#else
     STORE(me, STATE(b), TASK);
#endif
     atomic { b = 0; s = 0 };
     goto again
  :: else
  fi;
#endif
  d_step {
    /* It is the oldest untaken task. */
    assert(place[b] == LIVE);
    s = 0;
    do
    :: s < b -> assert(place[s] == TAKEN); s++
    :: else -> break
    od;
    place[b] = TAKEN;
    s = 0
  }
  STORE(me, STATE(b), STOLEN);
#if !defined(MUTANT_BOT_AFTER_RUN) && !defined(MUTANT_BOT_BEFORE_RECHECK)
  STORE(me, BOT, b + 1);
#endif
  LOAD(me, PAYLOAD(b), s);
  d_step { assert(s == task_in[b]); run_once(s) };
#ifndef MUTANT_RESULT_AFTER_DONE
  STORE(me, PAYLOAD(b), s + RESULT);
#endif
#ifdef VARIANT_DONE_BY_PLAIN_STORE
  STORE(me, STATE(b), DONE);
#else
  STORE_SC(me, STATE(b), DONE);
#endif
#ifdef MUTANT_RESULT_AFTER_DONE
  STORE(me, PAYLOAD(b), s + RESULT);
#endif
#ifdef MUTANT_BOT_AFTER_RUN
  STORE(me, BOT, b + 1);
#endif
  atomic { b = 0; s = 0 };
again:
  /* Steals on, or has something else to do for the rest of the run: the owner must manage without. */
  if
  :: goto look
  :: skip
  fi
}

init {
  atomic {
    run owner();
    run thief(1);
    run thief(2);
    run drain(0);
    run drain(1);
    run drain(2)
  }
}
