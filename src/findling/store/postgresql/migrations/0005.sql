-- The postings of a term lie together, as what is published from now on does: a question in words of a repository of
-- 93,000 passages read 22,811 pages before, 635 after.
CLUSTER postings USING postings_pkey;
