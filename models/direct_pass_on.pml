/* A woken worker wakes another one. Two workers offer tasks; two sleep in joins, each for the tasks of one worker or for
   any. Sequentially consistent; direct_idle.pml has the queues of stores.

   Checked: no worker sleeps that might run a public task. */

#ifndef TASKS
#define TASKS 2  /* that a worker makes public at once */
#endif
#define OFFERERS 2
#define SLEEPERS 2

#define FOR_ANYTHING 2
byte for_whom[SLEEPERS];  /* may run the tasks of this worker, or FOR_ANYTHING */
byte tasks[OFFERERS];     /* public */
bool sleeps[SLEEPERS];
byte over;                /* offerers that have made all theirs public */

#define fits(p, o) (for_whom[p] == o || for_whom[p] == FOR_ANYTHING)

/* woke becomes true if a sleeper was woken: idle.cpp's wake_one_for */
inline wake_one_for(o, woke) {
  atomic {
    if
    :: sleeps[0] && fits(0, o) -> sleeps[0] = false; woke = true
    :: sleeps[1] && fits(1, o) -> sleeps[1] = false; woke = true
    :: !(sleeps[0] && fits(0, o)) && !(sleeps[1] && fits(1, o)) -> woke = false
    fi
  }
}

proctype offerer(byte me) {
  bool woke;
  tasks[me] = TASKS;
  wake_one_for(me, woke);
  over++
}

inline pass_on() {
  o = 0;
  do
  :: o < OFFERERS ->
     if
     :: tasks[o] > 0 ->
        wake_one_for(o, woke);
#ifdef MUTANT_STOPS_AT_THE_FIRST_OFFER
        break
#else
        if
        :: woke -> break
        :: else -> o++
        fi
#endif
     :: tasks[o] == 0 -> o++
     fi
  :: o >= OFFERERS -> break
  od;
  atomic { o = 0; woke = false }
}

proctype sleeper(byte me) {
  byte o;
  bool woke;
  atomic {
    if
    :: for_whom[me] = 0
    :: for_whom[me] = 1
    :: for_whom[me] = FOR_ANYTHING
    fi
  };
look:
  if
  :: atomic { fits(me, 0) && tasks[0] > 0 -> tasks[0]-- }
  :: atomic { fits(me, 1) && tasks[1] > 0 -> tasks[1]-- }
  :: atomic { !(fits(me, 0) && tasks[0] > 0) && !(fits(me, 1) && tasks[1] > 0) -> sleeps[me] = true };
     end: !sleeps[me];
     goto look
  fi;
#ifndef MUTANT_DOES_NOT_PASS_ON
  pass_on();
#endif
  endtask: false  /* it lasts until nothing else can move */
}

/* When nothing can move. */
proctype observer() {
  byte p, o;
  endwait: atomic {
    timeout ->
    assert(over == OFFERERS);
    assert(!(sleeps[0] && ((fits(0, 0) && tasks[0] > 0) || (fits(0, 1) && tasks[1] > 0))));
    assert(!(sleeps[1] && ((fits(1, 0) && tasks[0] > 0) || (fits(1, 1) && tasks[1] > 0))))
  }
}

init {
  atomic {
    run offerer(0);
    run offerer(1);
    run sleeper(0);
    run sleeper(1);
    run observer()
  }
}
