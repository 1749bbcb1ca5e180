/* The full task barrier of filch::channel: a manager that waits until all workers are idle, and workers that give tasks
   to each other meanwhile, ask early, and withdraw. Only exchanges and compare-and-swaps matter here, so memory is plain.
   What is checked: README.md. */

#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef TASKS
#define TASKS 3
#endif
#ifndef CALLS
#define CALLS 2     /* from outside, for which an idle worker leaves its wait */
#endif
#define MANAGER 0

#define CLOSED 0
#define OPEN 1
#define IDLE 2      /* open, and its thief is idle */
#define CLAIMED 3
#define FULL 4

byte channel[WORKERS];
byte tasks[WORKERS];      /* that a worker has, the one that it runs included */
byte sent[WORKERS];       /* in its task channel */
byte working = WORKERS;
byte forks = TASKS;       /* that are still to be made */
byte calls = CALLS;       /* that are still to come */
bool all_idle;

#define OTHER(n) ((me + (n)) % WORKERS)
#define NOTHING_LEFT (tasks[0] + tasks[1] + tasks[2] + sent[0] + sent[1] + sent[2] == 0)

/* A call may come when the round is over, so that nothing is left is asked at its end. */
inline arrive() {
  atomic {
    working--;
    if
    :: working == 0 && !all_idle -> assert(NOTHING_LEFT); all_idle = true
    :: else
    fi
  }
}
inline update() { working++ }

/* Once the thief's channel is claimed. */
inline send(thief) {
#if !defined(MUTANT_UPDATES_AFTER_SENDING) && !defined(MUTANT_DOES_NOT_UPDATE)
  if
  :: was_idle -> update()
  :: else
  fi;
#endif
  atomic { tasks[me]--; sent[thief]++; channel[thief] = FULL };
#ifdef MUTANT_UPDATES_AFTER_SENDING
  if
  :: was_idle -> update()
  :: else
  fi;
#endif
  was_idle = false
}

inline receive() { tasks[me] = tasks[me] + sent[me]; sent[me] = 0; channel[me] = CLOSED }

/* The manager at the end of its barrier, and who runs a call. What comes too late it has, as it keeps detached tasks. */
inline withdraw() {
  atomic {
    if
    :: channel[me] == OPEN -> channel[me] = CLOSED
    :: channel[me] == IDLE -> channel[me] = CLOSED; was_idle = true
    :: channel[me] == CLOSED
    :: channel[me] == CLAIMED || channel[me] == FULL -> late = true
    fi
  };
  if
#ifdef MUTANT_WITHDRAWS_WITHOUT_UPDATE
  :: was_idle -> was_idle = false
#else
  :: was_idle -> was_idle = false; update()
#endif
  :: late -> late = false; atomic { channel[me] == FULL -> receive() }
  :: else
  fi
}

proctype worker(byte me) {
  bool was_idle;
  bool late;
  if
  :: me == MANAGER -> tasks[me] = 1
  :: else
  fi;
  do
  /* A task may fork, and end; a worker with several may give one away. */
  :: atomic { tasks[me] > 0 && forks > 0 -> tasks[me]++; forks-- }
  :: tasks[me] > 0 -> tasks[me]--
  :: atomic { tasks[me] > 1 && (channel[OTHER(1)] == OPEN || channel[OTHER(1)] == IDLE) ->
              was_idle = (channel[OTHER(1)] == IDLE); channel[OTHER(1)] = CLAIMED };
     send(OTHER(1))
  :: atomic { tasks[me] > 1 && (channel[OTHER(2)] == OPEN || channel[OTHER(2)] == IDLE) ->
              was_idle = (channel[OTHER(2)] == IDLE); channel[OTHER(2)] = CLAIMED };
     send(OTHER(2))
  /* At any time: early, too. */
  :: channel[me] == CLOSED && !all_idle -> channel[me] = OPEN
#ifdef MUTANT_ASKS_EARLY_AS_IDLE
  :: tasks[me] == 1 && channel[me] == CLOSED -> channel[me] = IDLE; arrive()
#endif
#ifdef MUTANT_IS_IDLE_WITH_ITS_LAST_TASK
  :: tasks[me] <= 1 && channel[me] == OPEN ->
#else
  :: tasks[me] == 0 && channel[me] == OPEN ->
#endif
#ifdef MUTANT_ARRIVES_BEFORE_IT_IS_IDLE
     arrive();
     atomic {
       if
       :: channel[me] == OPEN -> channel[me] = IDLE
       :: else -> update()
       fi
     }
#else
     atomic {
       if
       :: channel[me] == OPEN -> channel[me] = IDLE; was_idle = true
       :: else
       fi
     };
     if
     :: was_idle -> was_idle = false; arrive()
     :: else
     fi
#endif
  :: atomic { channel[me] == FULL -> receive() }
  /* It asked, idle or early. */
  :: atomic { calls > 0 && me != MANAGER && channel[me] != CLOSED -> calls-- };
     withdraw();
     tasks[me]++
  :: all_idle && tasks[me] == 0 -> break
  od;
  if
  :: me == MANAGER -> withdraw()
  :: else
  fi
}

init {
  atomic { run worker(0); run worker(1); run worker(2) }
  timeout -> assert(all_idle)
}
