# The command line and the server of gnomon:
#
#     docker build -t gnomon .
#     docker run --rm -v "$PWD:/work" --user "$(id -u)" gnomon compare ref.txt -i sysA.txt sysB.txt
#     docker run --rm -it --network host gnomon serve
#     docker run -d -p 127.0.0.1:8765:8765 -v gnomon:/work gnomon \
#         serve comparisons --no-browser --host 0.0.0.0 --port 8765 --behind-proxy https://compare.example.org
#
# More extras of the package: --build-arg EXTRAS=check,excel,serve,spacy
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
ARG EXTRAS=check,excel,serve
COPY . /src
RUN python -m venv /opt/gnomon && /opt/gnomon/bin/pip install --no-cache-dir "/src[$EXTRAS]"

FROM python:3.13-slim
COPY --from=build /opt/gnomon /opt/gnomon
ENV PATH=/opt/gnomon/bin:$PATH GNOMON_CACHE=/var/cache/gnomon
# any user may run it and keep what was made before
RUN useradd --create-home gnomon && mkdir -m 1777 /work /var/cache/gnomon
USER gnomon
WORKDIR /work
VOLUME /work
EXPOSE 8765
ENTRYPOINT ["gnomon"]
CMD ["--help"]
