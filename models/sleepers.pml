/* Sleepers, and waking one of them: a word for each worker, and a count of the words that are not awake,
   which is never too low. Needs tso.pml, the words SLEEPERS and WAITS(p), MAY_RUN_IT(what) (may a sleeper
   that waits for this run what is offered here?) and NTH(n) (the order in which wakers look at workers). */

/* what a sleeper waits for */
#define AWAKE 0
#define FOR_ANYTHING 1
#define FOR_ONE 2

#define ASLEEP(p) (mem[WAITS(p)] != AWAKE)

#ifdef MUTANT_WORD_BY_PLAIN_STORE
#define STORE_WORD STORE
#else
#define STORE_WORD STORE_SC
#endif

inline one_sleeper_less(me) {
  atomic { DRAINED(me) -> assert(mem[SLEEPERS] > 0); mem[SLEEPERS]-- }
}

inline count_sleeper(me, tmp) {
#ifdef MUTANT_COUNTS_WITHOUT_RMW
  LOAD(me, SLEEPERS, tmp);
  STORE(me, SLEEPERS, tmp + 1);
  tmp = 0
#else
  atomic { DRAINED(me) -> mem[SLEEPERS]++ }
#endif
}

#ifdef LOOKING
bool looks[PROCS];  /* counted in the word LOOKING */
bool late[PROCS];   /* was woken, or begins, and has not asked by the time when nothing else can move */

inline may_be_late(me) {
  if
  :: late[me] = true; !late[me]
  :: skip
  fi
}

inline looks_for_tasks(me) {
  atomic {
    if
    :: !looks[me] && DRAINED(me) -> mem[LOOKING]++; looks[me] = true
    :: looks[me]
    fi
  }
}

inline has_work(me) {
  atomic {
    if
    :: looks[me] && DRAINED(me) -> mem[LOOKING]--; looks[me] = false
    :: !looks[me]
    fi
  }
}
#endif

inline announce(me, reason, tmp) {
#ifdef MUTANT_WORD_BEFORE_COUNT
  STORE_WORD(me, WAITS(me), reason);
  count_sleeper(me, tmp)
#else
  count_sleeper(me, tmp);
  STORE_WORD(me, WAITS(me), reason)
#endif
}

/* The process that changes the word to awake lowers the count. `saw` is the word before, and awake afterwards if
   another process was first. */
inline wake_if(by, whom, saw) {
#ifdef MUTANT_WAKES_WITHOUT_CAS
  STORE_SC(by, WAITS(whom), AWAKE);
  one_sleeper_less(by)
#else
  atomic {
    DRAINED(by) ->
    if
    :: mem[WAITS(whom)] == saw -> mem[WAITS(whom)] = AWAKE
    :: else -> saw = AWAKE
    fi
  };
  if
  :: saw != AWAKE -> one_sleeper_less(by)
  :: else
  fi
#endif
}

inline wake(by, whom, saw) {
  LOAD(by, WAITS(whom), saw);
  if
  :: saw != AWAKE -> wake_if(by, whom, saw)
  :: else
  fi
}

inline retract(me, found) {
#ifdef MUTANT_RETRACTS_WITHOUT_CAS
  STORE_SC(me, WAITS(me), AWAKE);
  one_sleeper_less(me)
#else
  wake(me, me, found)
#endif
}

inline wake_one(me, nth, found) {
  nth = 0;
  do
  :: nth < PROCS ->
     LOAD(me, WAITS(NTH(nth)), found);
     if
     :: MAY_RUN_IT(found) ->
        wake_if(me, NTH(nth), found);
        if
        :: found != AWAKE -> break
        :: else
        fi
     :: else
     fi;
     nth++
  :: else -> break
  od;
  atomic { nth = 0; found = 0 }
}

/* After a task was made public. */
inline task_is_public(me, nth, found) {
  LOAD(me, SLEEPERS, found);
  if
  :: found > 0 -> wake_one(me, nth, found)
  :: else
  fi;
  found = 0
}
