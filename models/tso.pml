/* Memory as x86 has it (total store order): each process has a queue of stores that only it sees; the
   oldest leaves for memory at any moment. A locked instruction, and so a seq_cst store, waits until the
   queue is empty. The including model defines PROCS, WORDS and DEPTH, and runs one `drain` per process. */

typedef queue {
  byte used;
  byte word[DEPTH];
  byte value[DEPTH];  /* unused places are zero, so that equal states look equal */
}

byte mem[WORDS];
queue stores[PROCS];
hidden byte tso_i;

/* A plain store; relaxed and release in the code. */
#define STORE(p, a, v)                                                   \
  atomic {                                                               \
    stores[p].used < DEPTH ->                                            \
    stores[p].word[stores[p].used] = a;                                  \
    stores[p].value[stores[p].used] = v;                                 \
    stores[p].used++                                                     \
  }

/* A load; any order in the code. The process's own newest store comes before memory. */
#define LOAD(p, a, into)                                                 \
  d_step {                                                               \
    into = mem[a];                                                       \
    tso_i = 0;                                                           \
    do                                                                   \
    :: tso_i < stores[p].used ->                                         \
       if :: stores[p].word[tso_i] == (a) -> into = stores[p].value[tso_i] \
          :: else fi;                                                    \
       tso_i++                                                           \
    :: else -> break                                                     \
    od;                                                                  \
    tso_i = 0                                                            \
  }

/* Inside an atomic: a locked instruction starts with this. */
#define DRAINED(p) (stores[p].used == 0)

/* A seq_cst store, which is an exchange. */
#define STORE_SC(p, a, v) atomic { DRAINED(p) -> mem[a] = v }

#define EXCHANGE(p, a, v, old) atomic { DRAINED(p) -> old = mem[a]; mem[a] = v }

proctype drain(byte p) {
  end: do
  :: d_step {
       stores[p].used > 0 ->
       mem[stores[p].word[0]] = stores[p].value[0];
       tso_i = 1;
       do
       :: tso_i < stores[p].used ->
          stores[p].word[tso_i - 1] = stores[p].word[tso_i];
          stores[p].value[tso_i - 1] = stores[p].value[tso_i];
          tso_i++
       :: else -> break
       od;
       stores[p].used--;
       stores[p].word[stores[p].used] = 0;
       stores[p].value[stores[p].used] = 0;
       tso_i = 0
     }
  od
}
