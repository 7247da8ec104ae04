/* SPDX-License-Identifier: MIT */
/* Intrusive doubly linked list: a head that is a link of itself when empty. */
#ifndef HR_LIST_H
#define HR_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct hr_link {
    struct hr_link *next, *previous;
};

#define HR_CONTAINER(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))
#define HR_ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static inline void hr_list_init(struct hr_link *head)
{
    head->next = head->previous = head;
}

static inline bool hr_list_empty(const struct hr_link *head)
{
    return head->next == head;
}

static inline void hr_list_append(struct hr_link *head, struct hr_link *link)
{
    link->previous = head->previous;
    link->next = head;
    head->previous->next = link;
    head->previous = link;
}

/* The link may be removed again: it is a list of its own afterwards. */
static inline void hr_list_remove(struct hr_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    hr_list_init(link);
}

/* The next link is read before the body runs, so the body may remove the current one. */
#define HR_LIST_EACH(link, head)                                                                   \
    for (struct hr_link *link = (head)->next, *link##_next = link->next; link != (head);           \
         link = link##_next, link##_next = link->next)

#endif
