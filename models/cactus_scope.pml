/* The tickets of a scope under cactus: for each task a ticket lies among the worker's tasks, and the taker of a ticket
   runs the oldest task that has not begun. Under total store order. One owner, which syncs the scope several times, and two
   thieves. Words as in src/schedulers/cactus/protocol.md.

   Checked: a ticket's task is there, and has not begun.

   Tickets are taken as in cactus_deque.pml, where the places are: all tickets of a scope are alike. */

#ifndef TASKS
#define TASKS 4  /* in all */
#endif

#define PROCS 3
#define OWNER 0
#ifndef DEPTH
#define DEPTH 4
#endif

/* words of memory; TAIL and SPLIT are halves of one word, `open` */
#define PLACE(number) (number)
#define BEGUN (TASKS)
#define TAIL (TASKS + 1)
#define SPLIT (TASKS + 2)
#define ARRIVED (TASKS + 3)  /* thieves at the join counter */
#define WORDS (TASKS + 4)

#include "tso.pml"

short ran;      /* a bit a task */
bool finished;

inline begin_task(task) {
  d_step {
    assert(task != 0);
    assert((ran & (1 << task)) == 0);
    ran = ran | (1 << task)
  }
}

/* Makes tickets from split on public. */
inline publish() {
  i = split;
  do
  :: i < head -> i++
  :: i > split -> break
  od;
  atomic { DRAINED(OWNER) -> mem[SPLIT] = i; split = i; i = 0 }
}

inline push_task() {
#ifdef MUTANT_TASK_AFTER_TICKET
  head++;
  if
  :: publish()
  :: skip
  fi;
  STORE(OWNER, PLACE(pushed), next);
  atomic { pushed++; next++ }
#else
  STORE(OWNER, PLACE(pushed), next);
  atomic { pushed++; next++; head++ };
  if
  :: publish()
  :: skip
  fi
#endif
}

inline take_number() {
#ifdef MUTANT_LOOKS_AT_TICKET
  /* Whether the ticket that it took was public, not the scope's oldest. */
  i = (was_public -> 1 : 0);
#elif defined(MUTANT_FORGETS_THOSE_ELSEWHERE)
  i = (elsewhere == 0 && first < split -> 1 : 0);
#else
  i = (first < split + elsewhere -> 1 : 0);  /* head < split + pending */
#endif
  if
#ifndef MUTANT_OWNER_COUNTS_PLAINLY
  :: i == 1 -> atomic { DRAINED(OWNER) -> number = mem[BEGUN]; mem[BEGUN] = number + 1 }
#endif
  :: else ->
     LOAD(OWNER, BEGUN, number);
     STORE(OWNER, BEGUN, number + 1)
  fi;
  LOAD(OWNER, PLACE(number), task);
  atomic { i = 0; number = 0 };
  begin_task(task);
  task = 0
}

proctype owner() {
  byte head, split, i, number, task, pushed, next = 1;
  byte first;      /* where the oldest ticket of the scope lies that is not elsewhere */
  byte elsewhere;  /* tickets that were stolen before the places started over, or the fiber changed workers */
  bool was_public;

  do
  :: next <= TASKS -> push_task()
  :: atomic { DRAINED(OWNER) && head > first && mem[TAIL] >= head ->
       elsewhere = elsewhere + head - first;
       head = 0; first = 0; split = 0; mem[TAIL] = 0; mem[SPLIT] = 0 }
  :: head + elsewhere > first ->
     /* sync: the newest ticket is taken back, or all were stolen */
     do
     :: head > first && head - 1 >= split -> head--; was_public = false; take_number()
     :: head > first && head - 1 < split ->
        if
        :: atomic { DRAINED(OWNER) && head > mem[TAIL] -> mem[SPLIT] = head - 1; split = head - 1; head-- };
           was_public = true;
           take_number()
        :: atomic { mem[TAIL] >= head -> skip };
#ifndef MUTANT_DOES_NOT_MEET
           atomic { DRAINED(OWNER) && mem[ARRIVED] == head - first + elsewhere -> mem[ARRIVED] = 0 };
#endif
           elsewhere = 0;
           break
        fi;
        /* The task may fork, and publish what lies below. */
        if
        :: head > split -> publish()
        :: skip
        fi
     :: head == first && elsewhere > 0 ->
#ifndef MUTANT_DOES_NOT_MEET
        atomic { DRAINED(OWNER) && mem[ARRIVED] == elsewhere -> mem[ARRIVED] = 0 };
#endif
        elsewhere = 0;
        break
     :: head == first && elsewhere == 0 -> break
     od;
#ifndef MUTANT_GOES_ON_COUNTING
     pushed = 0;
     STORE(OWNER, BEGUN, 0);
#else
     pushed = 0;
#endif
     atomic { first = head; was_public = false }
  :: next > TASKS && head + elsewhere == first -> break
  od;
  atomic { assert(ran == (1 << next) - 2); finished = true }
}

proctype thief(byte me) {
  byte number, task;

look:
  end: if
  :: atomic { DRAINED(me) && mem[TAIL] < mem[SPLIT] -> mem[TAIL] = mem[TAIL] + 1 }
  fi;
#ifdef MUTANT_COUNTS_WITHOUT_RMW
  LOAD(me, BEGUN, number);
  STORE(me, BEGUN, number + 1);
#else
  atomic { DRAINED(me) -> number = mem[BEGUN]; mem[BEGUN] = number + 1 };
#endif
  LOAD(me, PLACE(number), task);
  begin_task(task);
  atomic { DRAINED(me) -> mem[ARRIVED] = mem[ARRIVED] + 1; number = 0; task = 0 };
  goto look
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
