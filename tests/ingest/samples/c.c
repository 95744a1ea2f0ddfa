#include <stdio.h>

#define BUFFER_SIZE 1024
#define MAX(a, b) \
  ((a) > (b) ? (a) : (b))

typedef unsigned int uint;
typedef int (*callback)(void *data);

struct node {
  struct node *next;
  int value;
};

typedef struct {
  int x;
} point_t;

typedef struct list_s {
  int size;
} list_t;

enum color { RED, GREEN };

union word {
  int i;
};

static const char *names[] = {"a", "b"};
int counter = 0, limit;
extern int shared;

int parse(const char *text, size_t size);

/* Adds two numbers.
 * Never fails. */
static inline int
add(int a, int b)
{
  int local = a;
  return local + b;
}

char *copy(char *text) {
  return text;
}

#ifdef _WIN32
int (*resolve(int kind))(void *data) {
  return 0;
}
#else
void setup(void) {}
#endif

struct node *head(void) { return 0; }
