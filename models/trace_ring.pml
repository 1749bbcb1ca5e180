/* A ring of events that is read while its worker adds to it: edges trace-1 and trace-2 of src/runtime/trace.md. Event n
   lies in slot n mod ROOM, as two words. The reader looks at the count, reads the slots, and looks again. Numbers are
   those of the events plus one. Not modelled: a signal handler that adds an event meanwhile.

   Checked: each event that the reader keeps is whole, and not a newer one. */

#define WORKER 0
#define READER 1
#define PROCS 2
#define DEPTH 3

#ifndef ROOM
#define ROOM 2
#endif
#ifndef EVENTS
#define EVENTS 4
#endif
#define ADDED 0
#define SLOT(n, word) (1 + 2 * ((n) % ROOM) + (word))
#define WORDS (1 + 2 * ROOM)
#include "tso.pml"


active proctype worker() {
  byte n;
  do
  :: n < EVENTS ->
#ifdef MUTANT_COUNTS_FIRST
     STORE(WORKER, ADDED, n + 1);
#endif
#ifdef MUTANT_NEXT_EVENT_BEFORE_COUNT
     if
     :: n == 0 -> STORE(WORKER, SLOT(n, 0), n + 1)
     :: else
     fi;
     STORE(WORKER, SLOT(n, 1), n + 1);
     if
     :: n + 1 < EVENTS -> STORE(WORKER, SLOT(n + 1, 0), n + 2)
     :: else
     fi;
#else
     STORE(WORKER, SLOT(n, 0), n + 1);
     STORE(WORKER, SLOT(n, 1), n + 1);
#endif
#ifndef MUTANT_COUNTS_FIRST
     STORE(WORKER, ADDED, n + 1);
#endif
     n++
  :: else -> break
  od
}

active proctype reader() {
  byte end_;
  byte now;
  byte i;
  byte first;
  byte valid;
  byte time[EVENTS];
  byte word[EVENTS];
  LOAD(READER, ADDED, end_);
  first = (end_ > ROOM -> end_ - ROOM : 0);
  i = first;
  do
  :: i < end_ ->
     LOAD(READER, SLOT(i, 0), time[i]);
     LOAD(READER, SLOT(i, 1), word[i]);
     i++
  :: else -> break
  od;
#ifdef MUTANT_NO_SECOND_LOOK
  valid = first;
#else
  skip;  /* no loop may end at a d_step */
  LOAD(READER, ADDED, now);
#ifdef MUTANT_KEEPS_THE_SLOT_OF_THE_NEXT
  valid = (now > ROOM -> now - ROOM : 0);
#else
  valid = (now + 1 > ROOM -> now + 1 - ROOM : 0);
#endif
#endif
  i = (valid > first -> valid : first);
  do
  :: i < end_ ->
     assert(time[i] == i + 1 && word[i] == i + 1);
     i++
  :: else -> break
  od
}

init {
  atomic {
    run drain(WORKER);
    run drain(READER)
  }
}
