/* A caller enters a pool at an unused place, while a worker of the pool goes to sleep: src/runtime/idle.md, "Calls from
   outside", step 3. The worker requests at places in use only.

   Checked: if the worker sleeps, it has requested at the caller's place. */

#define CALLER 0
#define WORKER 1
#define PROCS 2
#define DEPTH 2
#define IN_USE 0    /* the bit of the caller's place */
#define REQUEST 1   /* at that place: the next fork is for others */
#define PUBLIC 2    /* a task that any worker may take */
#define ANNOUNCED 3 /* the worker sleeps, or is about to */
#define WORDS 4
#include "tso.pml"

byte private; /* tasks that the caller forked without a request */
bool sleeps;
byte over;

#ifdef MUTANT_BIT_BY_PLAIN_STORE
#define STORE_BIT STORE
#else
#define STORE_BIT STORE_SC
#endif
#ifdef MUTANT_WORD_BY_PLAIN_STORE
#define STORE_WORD STORE
#else
#define STORE_WORD STORE_SC
#endif

inline look_for_sleepers() {
#ifdef MUTANT_DOES_NOT_ASK_ITSELF
  skip
#else
  LOAD(CALLER, ANNOUNCED, found);
  if
  :: found -> STORE_SC(CALLER, REQUEST, 1)
  :: else
  fi;
  found = 0
#endif
}

proctype caller() {
  byte found;
#ifdef MUTANT_LOOKS_FIRST
  look_for_sleepers();
  STORE_BIT(CALLER, IN_USE, 1);
#else
  STORE_BIT(CALLER, IN_USE, 1);
  look_for_sleepers();
#endif
  /* One fork, then something long. */
  LOAD(CALLER, REQUEST, found);
  if
  :: found ->
     STORE_SC(CALLER, REQUEST, 0);
     STORE_SC(CALLER, PUBLIC, 1);
     LOAD(CALLER, ANNOUNCED, found);
     if
     :: found -> atomic { DRAINED(CALLER) -> mem[ANNOUNCED] = 0 } /* wakes it */
     :: else
     fi
  :: else -> private++
  fi;
  over++
}

proctype worker() {
  byte found;
again:
  skip;
#ifdef MUTANT_READS_THE_PLACES_FIRST
  LOAD(WORKER, IN_USE, found);
  STORE_WORD(WORKER, ANNOUNCED, 1);
#else
  STORE_WORD(WORKER, ANNOUNCED, 1);
  LOAD(WORKER, IN_USE, found);
#endif
  if
  :: found -> STORE_SC(WORKER, REQUEST, 1)
  :: else
  fi;
#ifdef MUTANT_SLEEPS_WITHOUT_LAST_LOOK
  found = 0;
#else
  LOAD(WORKER, PUBLIC, found);
#endif
  if
  :: found -> atomic { DRAINED(WORKER) -> mem[ANNOUNCED] = 0 }; goto takes
  :: else
  fi;
  sleeps = true;
  over++;
end:
  mem[ANNOUNCED] == 0; /* woken, by a store that has left its queue */
  atomic { sleeps = false; over-- };
  found = 0;
takes:
  atomic { DRAINED(WORKER) && mem[PUBLIC] -> mem[PUBLIC] = 0 };
  over++
}

/* A request of an earlier time may stand. */
init {
  atomic {
    if
    :: mem[REQUEST] = 1
    :: skip
    fi;
    run drain(CALLER);
    run drain(WORKER);
    run caller();
    run worker()
  }
}

/* While the worker sleeps, there is no public task, and a request stands unless the caller has forked for the last time
   before the worker was there to ask. */
active proctype observer() {
end:
  atomic {
    over == PROCS && stores[CALLER].used == 0 && stores[WORKER].used == 0 && sleeps && mem[ANNOUNCED] ->
    assert(mem[PUBLIC] == 0);
    assert(mem[REQUEST] == 1)
  }
}
