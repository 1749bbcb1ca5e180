/* The cactus scheduler's deque: fork, publish, take back, steal, start over, under total store order. One owner, two
   thieves. Words as in src/schedulers/cactus/protocol.md.

   Checked: each task runs once; the join counter is ready before a steal, and balanced at the end. Not modelled: a fiber that
   moves; the protocol page argues it. */

#ifndef SLOTS
#define SLOTS 3  /* places: forks before the owner has to start over at the first */
#endif
#ifndef FORKS
#define FORKS 4
#endif

#define PROCS 3
#define OWNER 0
#ifndef DEPTH
#define DEPTH 4
#endif

/* words of memory; TAIL and SPLIT are halves of one word, `open`, and change together, by locked instructions */
#define PLACE(i) (i)
#define BALANCE(task) (SLOTS + (task))
#define TAIL (SLOTS + FORKS + 1)
#define SPLIT (SLOTS + FORKS + 2)
#define TAKEN (SLOTS + FORKS + 3)
#define WORDS (SLOTS + FORKS + 4)

/* balances start at this: there are no negative bytes. The owner of an unmade one finds GARBAGE. */
#define ZERO 100
#define GARBAGE 7

#include "tso.pml"

short ran;      /* a bit a task */
bool stolen[FORKS + 1];
bool finished;

inline run_once(id) {
  assert((ran & (1 << id)) == 0);
  ran = ran | (1 << id)
}

/* Makes tasks from split on public, any number of them. */
inline publish() {
  i = split;
  do
  :: i < head && i < SLOTS ->
#ifndef MUTANT_BALANCE_AFTER_PUBLISH
     STORE(OWNER, BALANCE(task_at[i]), ZERO);
#endif
     i++
  :: i > split -> break
  od;
  atomic { DRAINED(OWNER) -> mem[SPLIT] = i };
#ifdef MUTANT_BALANCE_AFTER_PUBLISH
  do
  :: split < i -> STORE(OWNER, BALANCE(task_at[split]), ZERO); split++
  :: else -> break
  od;
#endif
  atomic { split = i; i = 0 }
}

inline fork_task() {
  atomic { task_at[head] = next; next++; head++ };
#ifdef MUTANT_PLACE_AFTER_PUBLISH
  if
  :: publish()
  :: skip
  fi;
  STORE(OWNER, PLACE(head - 1), task_at[head - 1])
#else
  STORE(OWNER, PLACE(head - 1), task_at[head - 1]);
  if
  :: publish()  /* a thief asked; here at any time */
  :: skip
  fi
#endif
}

/* The join of the newest task. */
inline join_newest() {
  if
  :: head > 0 && head - 1 >= split ->
     d_step { assert(!stolen[task_at[head - 1]]); run_once(task_at[head - 1]); head-- }
  :: else ->
     /* One locked instruction decides; a failing one is tried again. */
#ifdef MUTANT_TAKES_BACK_WITHOUT_CAS
     LOAD(OWNER, TAIL, s);
     if
     :: head <= s -> meet()
     :: else ->
        if
        :: STORE(OWNER, SPLIT, head - 1); split = head - 1
        :: STORE(OWNER, SPLIT, s); split = s
        fi;
        d_step { assert(!stolen[task_at[head - 1]]); run_once(task_at[head - 1]); head-- }
     fi
#else
     if
     :: atomic { DRAINED(OWNER) && head > mem[TAIL] -> mem[SPLIT] = head - 1; split = head - 1 };
        d_step { assert(!stolen[task_at[head - 1]]); run_once(task_at[head - 1]); head-- }
     :: atomic { DRAINED(OWNER) && head > mem[TAIL] -> mem[SPLIT] = mem[TAIL]; split = mem[TAIL] };
        d_step { assert(!stolen[task_at[head - 1]]); run_once(task_at[head - 1]); head-- }
     :: atomic { mem[TAIL] >= head -> s = mem[TAIL] }; meet()
     fi
#endif
  fi
}

/* All that were forked and not joined are stolen, the newest is waited for. Joins further out then find their
   tasks stolen too: `open_joins` says how many there are. */
inline meet() {
  d_step { assert(s == head); assert(split <= head) };
  if
  :: skip; start_over()  /* where it has gone far; here at any time */
  :: skip
  fi;
  atomic { s = 0; waits_for = waits_for + 1 }
}

inline start_over() {
#ifndef MUTANT_DOES_NOT_WAIT_FOR_READERS
  atomic { mem[TAKEN] == mem[TAIL] -> skip };
#endif
  STORE(OWNER, TAKEN, 0);
  /* release; a plain store */
  atomic { DRAINED(OWNER) -> mem[TAIL] = 0; mem[SPLIT] = 0; head = 0; split = 0 }
}

proctype owner() {
  byte head, split, i, s, next = 1, waits_for;
  byte task_at[SLOTS];
  byte joins[FORKS + 1];  /* the tasks of joins that are open, oldest first */
  byte open_joins;

  do
  :: head < SLOTS && next <= FORKS ->
     joins[open_joins] = next;
     open_joins++;
     fork_task()
  :: open_joins > 0 ->
     waits_for = 0;
     join_newest();
     open_joins--;
     if
     :: waits_for > 0 ->
        /* Adds one, off its stack; it arrives last, or the last to arrive resumes it. */
        i = joins[open_joins];
        atomic { DRAINED(OWNER) -> mem[BALANCE(i)] = mem[BALANCE(i)] + 1 };
        atomic { mem[BALANCE(i)] == ZERO -> assert(stolen[i] && (ran & (1 << i)) != 0); i = 0 }
     :: else
     fi;
     d_step { joins[open_joins] = 0; waits_for = 0; s = 0 }
  :: open_joins == 0 && (next > FORKS || head == SLOTS) -> break
  od;
  atomic { assert(ran == (1 << next) - 2); finished = true }
}

proctype thief(byte me) {
  byte t, task;

look:
  end: if
#ifdef MUTANT_STEALS_WITHOUT_CAS
  :: atomic { mem[TAIL] < mem[SPLIT] -> t = mem[TAIL] };
     STORE(me, TAIL, t + 1)
#else
  :: atomic { DRAINED(me) && mem[TAIL] < mem[SPLIT] -> t = mem[TAIL]; mem[TAIL] = t + 1 }
#endif
  fi;
  LOAD(me, PLACE(t), task);
#ifndef MUTANT_DOES_NOT_SAY_THAT_IT_READ
  atomic { DRAINED(me) -> mem[TAKEN] = mem[TAKEN] + 1 };
#endif
  d_step { assert(task != 0); assert(!stolen[task]); stolen[task] = true; run_once(task) };
  /* Arrives at the join counter. */
  atomic {
    DRAINED(me) ->
    assert(mem[BALANCE(task)] == ZERO || mem[BALANCE(task)] == ZERO + 1);
    mem[BALANCE(task)] = mem[BALANCE(task)] - 1;
    t = 0;
    task = 0
  };
  goto look
}

init {
  atomic {
    byte k = 0;
    do
    :: k <= FORKS -> mem[BALANCE(k)] = GARBAGE; k++
    :: else -> break
    od;
    run owner();
    run thief(1);
    run thief(2);
    run drain(0);
    run drain(1);
    run drain(2)
  }
}
