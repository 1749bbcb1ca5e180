/* A caller sleeps while parts of its call are elsewhere, and a worker takes up a fiber of that call: edge idle-4 of
   src/runtime/idle.md. The caller requests only from workers whose fiber is of its root. The worker also has a fiber of another
   root. Not modelled: the thief's exchange.

   Checked: while the caller sleeps and the worker has a fiber of its root, the worker is requested. */

#define CALLER 0
#define WORKER 1
#define PROCS 2
#define DEPTH 2
#define ROOT 0      /* of the worker's fiber: 1 is the caller's */
#define REQUEST 1   /* at the worker */
#define PUBLIC 2    /* a task of the worker's fiber; its root goes with it */
#define ANNOUNCED 3 /* the caller sleeps, or is about to */
#define WORDS 4
#include "tso.pml"

#ifndef FIBERS
#define FIBERS 2
#endif

bool sleeps;
byte over;

#ifdef MUTANT_ROOT_BY_PLAIN_STORE
#define STORE_ROOT STORE
#else
#define STORE_ROOT STORE_SC
#endif
#ifdef MUTANT_WORD_BY_PLAIN_STORE
#define STORE_WORD STORE
#else
#define STORE_WORD STORE_SC
#endif

inline look_for_caller() {
#ifdef MUTANT_DOES_NOT_ASK_ITSELF
  skip
#else
  if
  :: root == 1 ->
     LOAD(WORKER, ANNOUNCED, found);
     if
     :: found -> STORE_SC(WORKER, REQUEST, 1)
     :: else
     fi
  :: else
  fi;
  found = 0
#endif
}

/* It takes up fibers, of the caller's root or of another one, and stays with the last. */
active proctype worker() {
  byte found;
  byte root;
  byte n;
  do
  :: n < FIBERS ->
     n++;
     if
     :: root = 0
     :: root = 1
     fi;
#ifdef MUTANT_LOOKS_FIRST
     look_for_caller();
     STORE_ROOT(WORKER, ROOT, root);
#else
     STORE_ROOT(WORKER, ROOT, root);
     look_for_caller();
#endif
     /* A fork answers the request; for a caller of another root there is nothing, and its request may go. */
     LOAD(WORKER, REQUEST, found);
     if
     :: found ->
        STORE_SC(WORKER, REQUEST, 0);
        if
        :: root == 1 ->
           STORE_SC(WORKER, PUBLIC, 1);
           LOAD(WORKER, ANNOUNCED, found);
           if
           :: found -> atomic { DRAINED(WORKER) -> mem[ANNOUNCED] = 0 }
           :: else
           fi;
           /* Joined: taken back, or with the caller. Then the caller, if it sleeps still, is asked for. */
           atomic { DRAINED(WORKER) -> mem[PUBLIC] = 0 };
           LOAD(WORKER, ANNOUNCED, found);
           if
           :: found -> STORE_SC(WORKER, REQUEST, 1)
           :: else
           fi
        :: else
        fi
     :: else
     fi;
     found = 0
  :: else -> break
  od;
  over++
}

active proctype caller() {
  byte found;
  byte times;
again:
  skip;
#ifdef MUTANT_READS_ROOTS_FIRST
  LOAD(CALLER, ROOT, found);
  STORE_WORD(CALLER, ANNOUNCED, 1);
#else
  STORE_WORD(CALLER, ANNOUNCED, 1);
  LOAD(CALLER, ROOT, found);
#endif
  if
  :: found == 1 -> STORE_SC(CALLER, REQUEST, 1)
  :: else
  fi;
  LOAD(CALLER, PUBLIC, found);
  if
  :: found -> atomic { DRAINED(CALLER) -> mem[ANNOUNCED] = 0 }; goto awake
  :: else
  fi;
  sleeps = true;
  over++;
end:
  mem[ANNOUNCED] == 0;
  atomic { sleeps = false; over-- };
awake:
  found = 0;
  if
  :: times < 1 -> times++; goto again
  :: else
  fi;
  over++
}

init { atomic { run drain(CALLER); run drain(WORKER) } }

/* While the caller sleeps, a worker that stays with a fiber of its root has a request. */
active proctype observer() {
end:
  atomic {
    over == PROCS && stores[CALLER].used == 0 && stores[WORKER].used == 0 && sleeps && mem[ANNOUNCED] && mem[ROOT] == 1 ->
    assert(mem[REQUEST] == 1)
  }
}
