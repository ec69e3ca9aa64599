with m as (
  select testset, system, feature, muler, muler_low, muler_high from muler
  where metric = 'bleu' and variant = 'ratio' and feature like 'pos:%' and segments >= 300
),
s as (select testset, system, score from scores where metric = 'bleu')
select feature, count(*) as pairs, avg(if(a.muler > b.muler, 1, 0)) as disagree,
  count(*) filter (a.muler_low > b.muler_high) as surely
from m a join m b using (testset, feature)
  join s sa on sa.testset = a.testset and sa.system = a.system
  join s sb on sb.testset = b.testset and sb.system = b.system
where sa.score > sb.score + 1 and a.testset like '%-en'
group by feature order by disagree desc
