-- Nothing links the inputs.
SELECT n_name, r_name FROM nation CROSS JOIN region

-- plan ------------------------------------------------------------------------
== answer: bound
project n_name := nation.n_name, r_name := region.r_name
  join on TRUE
    scan nation nation [key n_nationkey] n_nationkey, n_name, n_regionkey, n_comment
    scan region region [key r_regionkey] r_regionkey, r_name, r_comment
== answer: refused
[UNSUPPORTED.JOIN] at 2:23 the join of nation, region is not along keys: from nation there is no way to region by its key (r_regionkey)
  SELECT n_name, r_name FROM nation CROSS JOIN region
                        ^^^^
  fix: one input must reach all others by equalities with their whole PRIMARY KEY; join on the key, declare it, or group the input by the joined columns in a sub-select
