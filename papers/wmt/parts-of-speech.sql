with chosen as (
  select testset, system from leaderboard
  where testset in ('wmt18/de-en', 'wmt19/de-en') and metric = 'bleu' and rank <= 10
),
years as (
  select testset, feature, avg(muler) as mean, var_samp(muler) / count(*) as v,
    avg(segments) as segments
  from muler join chosen using (testset, system)
  where metric = 'bleu' and variant = 'ratio' and feature like 'pos:%' and muler is not null
  group by all
)
select a.feature, a.segments as segments_2018, b.segments as segments_2019,
  a.mean as y2018, b.mean as y2019, b.mean - a.mean as change,
  change - 2.1 * sqrt(a.v + b.v) as low, change + 2.1 * sqrt(a.v + b.v) as high
from years a join years b using (feature)
where a.testset = 'wmt18/de-en' and b.testset = 'wmt19/de-en'
  and least(a.segments, b.segments) >= 100
order by change
