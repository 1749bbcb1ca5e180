/* The last messages of a cluster: heartbeats to the next rank until the watchdog stops, then a farewell with their number.
   Messages arrive in any order.

   Checked: no rank sends to one that left; nothing stays in the transport. */

#ifndef RANKS
#define RANKS 3
#endif
#ifndef HEARTBEATS
#define HEARTBEATS 2  /* the most that a rank sends */
#endif
#define NONE 255

byte heartbeats[RANKS];  /* under way to this rank */
byte farewell[RANKS];    /* the number in it */
bool gone[RANKS];

proctype rank(byte me) {
  byte sent, received;
  byte expected = NONE;  /* the farewell has come, with this number */
  bool has_stopped;
  do
  :: atomic { !has_stopped && sent < HEARTBEATS ->   /* the watchdog */
       assert(!gone[(me + 1) % RANKS]);
       sent++; heartbeats[(me + 1) % RANKS]++
     }
  :: atomic { !has_stopped ->
#ifndef MUTANT_WATCHDOG_GOES_ON
       has_stopped = true;
#endif
       assert(!gone[(me + 1) % RANKS]);
       farewell[(me + 1) % RANKS] = sent
     };
#ifdef MUTANT_WATCHDOG_GOES_ON
     if
     :: atomic { sent < HEARTBEATS -> assert(!gone[(me + 1) % RANKS]); heartbeats[(me + 1) % RANKS]++ }
     :: skip
     fi;
     has_stopped = true
#endif
  :: atomic { heartbeats[me] > 0 -> heartbeats[me]--; received++ }
  :: atomic { farewell[me] != NONE -> expected = farewell[me]; farewell[me] = NONE }
#ifdef MUTANT_LEAVES_AT_FAREWELL
  :: atomic { has_stopped && expected != NONE -> break }
#elif defined(MUTANT_SAYS_NO_FAREWELL)
  :: atomic { has_stopped && heartbeats[me] == 0 -> break }
#else
  :: atomic { has_stopped && expected == received -> break }
#endif
  od;
  atomic {
    assert(heartbeats[me] == 0 && farewell[me] == NONE);   /* nothing is left in the transport */
    gone[me] = true
  }
}

init {
  byte i;
  atomic {
    do
    :: i < RANKS -> farewell[i] = NONE; i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < RANKS -> run rank(i); i++
    :: else -> break
    od
  }
}
