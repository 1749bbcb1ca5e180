/* A woken worker is not forgotten before it has requested (edge idle-3): an owner that forks tasks and then a long one,
   and three thieves that sleep at first. Sequentially consistent; direct_idle.pml and cactus_idle.pml have the queues of stores,
   and two thieves.

   Checked: while more thieves sleep or are late than tasks are public, a busy owner's next fork serves them. */

#ifndef FORKS
#define FORKS 4
#endif
#define THIEVES 3

byte forked, made_public, taken;
bool is_asked = true;   /* a sleeping worker has requested */
byte looking = THIEVES;
byte asleep = THIEVES;
bool sleeps[THIEVES];
bool late[THIEVES];     /* was woken, and has not come by the time when nothing else can move */
bool forks_no_more;

#define UNTAKEN (made_public - taken)

inline wake_one() {
  if
  :: atomic { sleeps[0] -> sleeps[0] = false; asleep-- }
  :: atomic { sleeps[1] -> sleeps[1] = false; asleep-- }
  :: atomic { sleeps[2] -> sleeps[2] = false; asleep-- }
  :: atomic { asleep == 0 }
  fi
}

proctype owner() {
  byte look, left;

  do
  :: forked < FORKS ->
     forked++;
     if
     :: is_asked ->
        is_asked = false;
        made_public++;
        wake_one();
#ifdef MUTANT_COUNTS_OFFERS_FIRST
        left = UNTAKEN;
#endif
#ifdef MUTANT_ASKS_FOR_SLEEPERS_ONLY
        look = asleep;
#else
        look = looking;
#endif
#ifndef MUTANT_COUNTS_OFFERS_FIRST
        left = UNTAKEN;
#endif
        if
        :: left < look -> is_asked = true
        :: else
        fi;
        atomic { left = 0; look = 0 }
     :: else
     fi
  :: forked == FORKS -> break
  od;
  forks_no_more = true  /* the owner's next task is long */
}

proctype thief(byte me) {
  endsleep: !sleeps[me];
  if
  :: late[me] = true; endlate: !late[me]
  :: skip
  fi;
#ifdef MUTANT_LEAVES_BEFORE_TAKING
  looking--;
#endif
  if
  :: atomic { UNTAKEN > 0 -> taken++ };
     if
     :: UNTAKEN == 0 -> is_asked = true
     :: else
     fi;
#ifndef MUTANT_LEAVES_BEFORE_TAKING
     looking--;
#endif
     if
     :: UNTAKEN > 0 -> wake_one()
     :: else
     fi
     /* the task that it took is long */
  :: atomic { UNTAKEN == 0 -> is_asked = true }
     /* it comes in vain, and has asked */
  fi
}

/* When nothing can move, the owner is in its long task. Late workers may come then. */
proctype observer() {
  bool late_ones_wait_in_vain;

  endwait: atomic {
    timeout ->
    assert(forks_no_more);
    late_ones_wait_in_vain = UNTAKEN < late[0] + late[1] + late[2] + asleep && made_public < forked;
    assert(!late_ones_wait_in_vain)
  }
}

init {
  atomic {
    sleeps[0] = true;
    sleeps[1] = true;
    sleeps[2] = true;
    run owner();
    run thief(0);
    run thief(1);
    run thief(2);
    run observer()
  }
}
